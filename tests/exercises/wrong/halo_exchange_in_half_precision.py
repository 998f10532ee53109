"""Sends the rows in half precision.

Found: wrong.
"""

from itertools import pairwise

import numpy as np


def halo_exchange(slabs, width):
    for above, below in pairwise(slabs):
        below[:width] = above[-2 * width : -width].astype(np.float16)
        above[-width:] = below[width : 2 * width].astype(np.float16)
