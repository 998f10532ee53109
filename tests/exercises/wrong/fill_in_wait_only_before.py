"""Stops the clock when the work has been asked for.

Found: wrong.
"""


def seconds_of(gpu, work):
    work()
    gpu.synchronize()
    start = gpu.clock()
    work()
    return gpu.clock() - start
