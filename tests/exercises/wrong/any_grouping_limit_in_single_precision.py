"""Takes the limit in single precision.

Found: wrong.
"""

import numpy as np


def mean_above(limit):
    low = float(np.float32(limit))
    return (
        (lambda x: (x, 1) if x > low else (0, 0)),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        (0, 0),
        (lambda a: a[0] / a[1] if a[1] else limit),
    )
