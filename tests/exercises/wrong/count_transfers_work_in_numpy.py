"""Works in NumPy, and sends the finished result there and back.

Found: limit.
"""

import numpy as np


def normalise(cp, image):
    x = image - np.mean(image)
    limit = 2 * np.mean(np.abs(x))
    return cp.asnumpy(cp.asarray(np.clip(x, -limit, limit) / limit))
