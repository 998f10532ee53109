"""Copies nothing, by leaving the GPU alone.

Found: limit.
"""

import numpy as np


def normalise(cp, image):
    x = image - image.mean()
    limit = 2 * np.abs(x).mean()
    return np.clip(x, -limit, limit) / limit
