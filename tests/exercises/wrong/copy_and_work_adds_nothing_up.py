"""Multiplies element by element, and adds nothing up.

Found: wrong.
"""


def copy_and_work(cp, clock, a, b):
    w = cp.cuda.Device().synchronize
    cp.asarray(a[:1]) * cp.asarray(b[:1])
    w()
    t0 = clock()
    x, y = cp.asarray(a), cp.asarray(b)
    w()
    t1 = clock()
    x * y
    w()
    return t1 - t0, clock() - t1
