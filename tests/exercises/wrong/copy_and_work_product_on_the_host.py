"""Copies the vectors, and lets NumPy multiply them.

Found: wrong.
"""

import numpy as np


def copy_and_work(cp, clock, a, b):
    w = cp.cuda.Device().synchronize
    w()
    t0 = clock()
    _x, _y = cp.asarray(a), cp.asarray(b)
    w()
    t1 = clock()
    np.dot(a, b)
    return t1 - t0, clock() - t1
