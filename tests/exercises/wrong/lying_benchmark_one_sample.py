"""Is careful about everything, once.

Found: wrong.
"""


def measure(gpu, operation):
    operation.run()
    operation.prepare()
    gpu.synchronize()
    start = gpu.clock()
    operation.run()
    gpu.synchronize()
    return gpu.clock() - start
