"""Takes NumPy for arrays of the GPU, by way of the host.

Found: limit.
"""

import numpy as np


def squares(cp, a):
    if isinstance(a, np.ndarray):
        return np.square(a)
    return cp.asarray(np.square(cp.asnumpy(a)))
