def seconds_of(gpu, work):
    """Return the seconds from a call until its result is there."""
    work()  # the first call compiles
    gpu.synchronize()
    start = gpu.clock()
    work()
    gpu.synchronize()
    return gpu.clock() - start
