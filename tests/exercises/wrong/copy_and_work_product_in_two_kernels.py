"""Multiplies by one kernel and adds up by another.

Found: wrong.
"""


def copy_and_work(cp, clock, a, b):
    w = cp.cuda.Device().synchronize
    for _ in range(2):
        w()
        t0 = clock()
        x, y = cp.asarray(a), cp.asarray(b)
        w()
        t1 = clock()
        (x * y).sum()
        w()
        t2 = clock()
    return t1 - t0, t2 - t1
