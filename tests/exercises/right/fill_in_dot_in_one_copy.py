"""Sends both vectors in one copy, and widens the products on the GPU."""

import numpy as np


def dot(cp, a, b):
    both = cp.asarray(np.stack([a, b]))
    return cp.prod(both, axis=0).sum(dtype=cp.float64).item()
