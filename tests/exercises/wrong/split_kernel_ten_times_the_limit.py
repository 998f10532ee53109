"""Takes kernels for split that are off by a ten-thousandth.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    column, row = weights[:, j], weights[i] / weights[i, j]
    return (
        None
        if np.abs(np.outer(column, row) - weights).max() > 1e-4 * np.abs(weights).max()
        else (column, row)
    )
