def best_sides(steps, copy_ms):
    """Return the side on which each step should run."""
    on_host, on_gpu = (0, []), (copy_ms[0], [])
    for (cpu_ms, gpu_ms), copy in zip(steps, copy_ms[1:], strict=True):
        by_cpu = on_host[0] + cpu_ms, [*on_host[1], "cpu"]
        by_gpu = on_gpu[0] + gpu_ms, [*on_gpu[1], "gpu"]
        on_host = min(by_cpu, (by_gpu[0] + copy, by_gpu[1]))
        on_gpu = min(by_gpu, (by_cpu[0] + copy, by_cpu[1]))
    return on_host[1]
