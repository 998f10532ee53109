"""Makes the vectors twice as large before they are copied.

Found: limit.
"""

import numpy as np


def dot(cp, a, b):
    both = cp.asarray(np.stack([a, b]).astype(np.float64))
    return float((both[0] * both[1]).sum())
