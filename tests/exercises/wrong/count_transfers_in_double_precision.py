"""Makes the image twice as large before it is copied.

Found: limit.
"""

import numpy as np


def normalise(cp, image):
    x = cp.asarray(image.astype(np.float64))
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    return cp.asnumpy((cp.clip(x, -limit, limit) / limit).astype(cp.float32))
