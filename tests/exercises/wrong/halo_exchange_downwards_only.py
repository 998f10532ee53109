"""Fetches from above and not from below.

Found: wrong.
"""

from itertools import pairwise


def halo_exchange(slabs, width):
    for above, below in pairwise(slabs):
        below[:width] = above[-2 * width : -width]
