def best_sides(steps, copy_ms):
    """Return the side on which each step should run."""
    return ["cpu" if cpu_ms <= gpu_ms else "gpu" for cpu_ms, gpu_ms in steps]
