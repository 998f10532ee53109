"""Rounds the readings to milliseconds.

Found: wrong.
"""


def seconds_of(gpu, work):
    work()
    gpu.synchronize()
    start = int(gpu.clock() * 1e3)
    work()
    gpu.synchronize()
    return (int(gpu.clock() * 1e3) - start) / 1e3
