"""Takes the rank, in which many small errors add up.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    if np.linalg.matrix_rank(weights, tol=1e-5 * np.abs(weights).max()) > 1:
        return None
    i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    return weights[:, j], weights[i] / weights[i, j]
