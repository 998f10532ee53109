"""Lets each copy wait for itself."""


def copy_and_work(cp, clock, a, b):
    cp.dot(cp.asarray(a), cp.asarray(b)).get()
    t0 = clock()
    x, y = cp.asarray(a, blocking=True), cp.asarray(b, blocking=True)
    t1 = clock()
    cp.dot(x, y).get()
    t2 = clock()
    return t1 - t0, t2 - t1
