"""Adds up milliseconds in float32, which does not have all those of hours.

Found: wrong.
"""

import numpy as np


def best_sides(steps, copy_ms):
    copies = np.array(copy_ms, np.float32)
    host, gpu = (np.float32(0), []), (copies[0], [])
    for (cpu_ms, gpu_ms), copy in zip(np.array(steps, np.float32).reshape(-1, 2), copies[1:], strict=True):
        by_cpu = host[0] + cpu_ms, [*host[1], "cpu"]
        by_gpu = gpu[0] + gpu_ms, [*gpu[1], "gpu"]
        host = min(by_cpu, (by_gpu[0] + copy, by_gpu[1]))
        gpu = min(by_gpu, (by_cpu[0] + copy, by_cpu[1]))
    return host[1]
