"""Decorates once, and lets each type have a version of its own: in 32 bits the mean has too few digits.

Found: wrong.
"""

import numpy as np


def smooth_all(jit, smooth, signals):
    compiled = jit(smooth)
    results = []
    for signal in signals:
        floats = signal if signal.dtype.kind == "f" else signal.astype(np.float64)
        results.append(compiled(floats).astype(np.float64))
    return results
