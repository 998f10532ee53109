"""Goes upwards through a list that it turns round.

Found: input_changed.
"""

from itertools import pairwise


def halo_exchange(slabs, width):
    slabs.reverse()
    for below, above in pairwise(slabs):
        below[:width] = above[-2 * width : -width]
        above[-width:] = below[width : 2 * width]
