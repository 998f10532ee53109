"""Rounds the figure to milliseconds.

Found: wrong.
"""


def seconds_of(gpu, work):
    work()
    gpu.synchronize()
    start = gpu.clock()
    work()
    gpu.synchronize()
    return round(gpu.clock() - start, 3)
