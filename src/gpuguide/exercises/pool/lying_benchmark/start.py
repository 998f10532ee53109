def measure(gpu, operation):
    """Return the seconds that one run of an operation keeps the GPU busy."""
    operation.prepare()
    start = gpu.clock()
    for _ in range(10):
        operation.run()
    stop = gpu.clock()
    return (stop - start) / 10
