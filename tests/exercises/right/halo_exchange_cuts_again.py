"""Puts the plate together, with the rims at its ends, and cuts it again."""

import numpy as np


def halo_exchange(slabs, width):
    own = [slab[width:-width] for slab in slabs]
    plate = np.concatenate([slabs[0][:width], *own, slabs[-1][-width:]])
    start = 0
    for slab in slabs:
        slab[...] = plate[start : start + len(slab)]
        start += len(slab) - 2 * width
