"""Multiplies one vector with itself.

Found: wrong.
"""


def copy_and_work(cp, clock, a, b):
    w = cp.cuda.Device().synchronize
    cp.dot(cp.asarray(a[:1]), cp.asarray(b[:1]))
    w()
    t0 = clock()
    x, _y = cp.asarray(a), cp.asarray(b)
    w()
    t1 = clock()
    cp.dot(x, x)
    w()
    return t1 - t0, clock() - t1
