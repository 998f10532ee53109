"""Times the call that compiles, too.

Found: wrong.
"""


def seconds_of(gpu, work):
    gpu.synchronize()
    start = gpu.clock()
    work()
    gpu.synchronize()
    return gpu.clock() - start
