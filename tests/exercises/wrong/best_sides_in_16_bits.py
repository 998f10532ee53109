"""Adds up milliseconds in 16 bits.

Found: exception, wrong.
"""

import numpy as np


def best_sides(steps, copy_ms):
    times = np.array(steps).reshape(-1, 2).astype(np.int16)
    copies = np.array(copy_ms).astype(np.int16)
    host, gpu = (0, []), (copies[0], [])
    for (cpu_ms, gpu_ms), copy in zip(times, copies[1:], strict=True):
        by_cpu = host[0] + cpu_ms, [*host[1], "cpu"]
        by_gpu = gpu[0] + gpu_ms, [*gpu[1], "gpu"]
        host = min(by_cpu, (by_gpu[0] + copy, by_gpu[1]))
        gpu = min(by_gpu, (by_cpu[0] + copy, by_cpu[1]))
    return host[1]
