"""Divides an array of the GPU by one of NumPy.

Found: exception.
"""

import numpy as np


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = np.full(image.shape, 2 * cp.mean(cp.abs(x)).get())
    return cp.asnumpy(cp.clip(x, -limit, limit) / limit)
