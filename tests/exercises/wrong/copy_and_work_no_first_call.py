"""Waits everywhere, and lets the first call compile inside.

Found: wrong.
"""


def copy_and_work(cp, clock, a, b):
    synchronize = cp.cuda.Device().synchronize
    start = clock()
    a_device, b_device = cp.asarray(a), cp.asarray(b)
    synchronize()
    copied = clock()
    cp.dot(a_device, b_device)
    synchronize()
    return copied - start, clock() - copied
