"""Allows the same difference whatever the weights are, so that very small ones always pass.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    column, row = weights[:, j], weights[i] / weights[i, j]
    return (column, row) if np.allclose(np.outer(column, row), weights, rtol=0, atol=1e-5) else None
