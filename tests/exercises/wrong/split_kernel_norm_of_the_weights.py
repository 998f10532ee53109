"""Compares norms of all weights together.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    column, row = weights[:, j], weights[i] / weights[i, j]
    return (
        (column, row)
        if np.linalg.norm(np.outer(column, row) - weights) <= 1e-5 * np.linalg.norm(weights)
        else None
    )
