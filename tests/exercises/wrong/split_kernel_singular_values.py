"""Takes the second singular value for what a product is off by.

Found: wrong.
"""

import numpy as np


def split_kernel(weights):
    u, s, vt = np.linalg.svd(weights)
    if len(s) > 1 and s[1] > 1e-5 * s[0]:
        return None
    return u[:, 0] * s[0], vt[0]
