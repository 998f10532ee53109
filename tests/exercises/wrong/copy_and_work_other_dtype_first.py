"""Compiles another kernel first: that for the dtype of its ones.

Found: wrong.
"""


def copy_and_work(cp, clock, a, b):
    synchronize = cp.cuda.Device().synchronize
    cp.dot(cp.ones(3), cp.ones(3))
    synchronize()
    start = clock()
    a_device, b_device = cp.asarray(a), cp.asarray(b)
    synchronize()
    copied = clock()
    cp.dot(a_device, b_device)
    synchronize()
    return copied - start, clock() - copied
