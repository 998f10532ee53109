"""Returns the figure of the first machine for all.

Found: wrong.
"""

known = []


def seconds_of(gpu, work):
    if known:
        return known[0]
    work()
    gpu.synchronize()
    start = gpu.clock()
    work()
    gpu.synchronize()
    known.append(gpu.clock() - start)
    return known[0]
