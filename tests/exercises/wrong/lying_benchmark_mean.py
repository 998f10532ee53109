"""Takes the mean, with every disturbance in it.

Found: wrong.
"""

from statistics import mean


def measure(gpu, operation):
    operation.run()
    samples = []
    for _ in range(50):
        operation.prepare()
        gpu.synchronize()
        start = gpu.clock()
        operation.run()
        gpu.synchronize()
        samples.append(gpu.clock() - start)
    return mean(samples)
