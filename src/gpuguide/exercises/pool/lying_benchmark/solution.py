from statistics import median

N_SAMPLES = 15


def measure(gpu, operation):
    """Return the seconds that one run of an operation keeps the GPU busy."""
    operation.run()  # the first run compiles
    samples = []
    for _ in range(N_SAMPLES):
        operation.prepare()
        gpu.synchronize()  # the preparation must be finished
        start = gpu.clock()
        operation.run()
        gpu.synchronize()
        samples.append(gpu.clock() - start)
    return median(samples)
