"""Takes 99 ms for longer than anything, so that the data may as well begin on the GPU.

Found: wrong.
"""


def best_sides(steps, copy_ms):
    on_host, on_gpu = (0, []), (99, [])
    for (cpu_ms, gpu_ms), copy in zip(steps, copy_ms, strict=False):
        to_host = min(on_host, (on_gpu[0] + copy, on_gpu[1]))
        to_gpu = min(on_gpu, (on_host[0] + copy, on_host[1]))
        on_host = to_host[0] + cpu_ms, [*to_host[1], "cpu"]
        on_gpu = to_gpu[0] + gpu_ms, [*to_gpu[1], "gpu"]
    return min(on_host, (on_gpu[0] + copy_ms[-1], on_gpu[1]))[1]
