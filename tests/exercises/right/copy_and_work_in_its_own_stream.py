"""Puts everything into a stream of its own, and waits for that one."""


def copy_and_work(cp, clock, a, b):
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        cp.dot(cp.asarray(a), cp.asarray(b))
        stream.synchronize()
        start = clock()
        a_device, b_device = cp.asarray(a), cp.asarray(b)
        stream.synchronize()
        copied = clock()
        cp.dot(a_device, b_device)
        stream.record().synchronize()
        done = clock()
    return copied - start, done - copied
