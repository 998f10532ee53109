def copy_and_work(cp, clock, a, b):
    """Return the seconds of copying two vectors, and of their scalar product."""
    start = clock()
    a_device, b_device = cp.asarray(a), cp.asarray(b)
    copied = clock()
    cp.dot(a_device, b_device)
    done = clock()
    return copied - start, done - copied
