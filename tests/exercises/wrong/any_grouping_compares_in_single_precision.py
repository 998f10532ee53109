"""Compares in single precision.

Found: wrong.
"""

import numpy as np


def mean_above(limit):
    return (
        (lambda x: (x, 1) if np.float32(x) > np.float32(limit) else (0, 0)),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        (0, 0),
        (lambda a: a[0] / a[1] if a[1] else limit),
    )
