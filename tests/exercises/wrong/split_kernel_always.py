"""Finds two vectors for every kernel, and never says that there are none.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    u, s, v = np.linalg.svd(weights)
    return u[:, 0] * s[0], v[0]
