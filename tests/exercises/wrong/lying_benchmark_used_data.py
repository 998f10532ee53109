"""Prepares the data once, for the first run.

Found: wrong.
"""

from statistics import median


def measure(gpu, operation):
    operation.run()
    operation.prepare()
    samples = []
    for _ in range(15):
        gpu.synchronize()
        start = gpu.clock()
        operation.run()
        gpu.synchronize()
        samples.append(gpu.clock() - start)
    return median(samples)
