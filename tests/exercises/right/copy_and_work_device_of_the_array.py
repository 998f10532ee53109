"""Waits for the device of an array, and copies into arrays that are there."""


def copy_and_work(cp, clock, a, b):
    x, y = cp.empty(a.shape, a.dtype), cp.empty(b.shape, b.dtype)
    x.fill(0)
    y.fill(0)
    cp.dot(x, y)
    x.device.synchronize()
    t0 = clock()
    x.set(a)
    y.set(b)
    x.device.synchronize()
    t1 = clock()
    cp.dot(x, y)
    x.device.synchronize()
    t2 = clock()
    return t1 - t0, t2 - t1
