"""Is right, but divides the row in place.

Found: input_changed.
"""

import numpy as np


def split_kernel(weights):
    before = weights.copy()
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    column, row = before[:, j], weights[i]
    row /= before[i, j]
    off = np.abs(np.outer(column, row) - before).max()
    return (column, row) if off <= 1e-5 * np.abs(before).max() else None
