def copy_and_work(cp, clock, a, b):
    """Return the seconds of copying two vectors, and of their scalar product."""
    synchronize = cp.cuda.Device().synchronize
    cp.dot(cp.asarray(a), cp.asarray(b))  # the first call compiles
    synchronize()

    start = clock()
    a_device, b_device = cp.asarray(a), cp.asarray(b)
    synchronize()
    copied = clock()
    cp.dot(a_device, b_device)
    synchronize()
    done = clock()
    return copied - start, done - copied
