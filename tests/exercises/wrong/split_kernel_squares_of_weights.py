"""Squares weights, which then may be too large or too small for their type.

Found: wrong, exception.
"""

import numpy as np


def split_kernel(weights):
    i = np.abs(weights).max(axis=1).argmax()
    row = weights[i]
    column = weights @ row / (row @ row)
    d = np.abs(np.outer(column, row) - weights).max()
    return (column, row) if d <= 1e-5 * np.abs(weights).max() else None
