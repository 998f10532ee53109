import numpy as np


def split_kernel(weights):
    """Return a column and a row whose product the weights are, or None if there are none."""
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    column, row = weights[:, j], weights[i] / weights[i, j]
    off = np.abs(np.outer(column, row) - weights).max()
    return (column, row) if off <= 1e-5 * abs(weights[i, j]) else None
