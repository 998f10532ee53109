def crossing_point(sizes, cpu_s, gpu_s):
    """Return the measured sizes between which the GPU overtakes the CPU for good."""
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    slower = [size for size, cpu, gpu in rows if gpu > cpu]
    not_faster = [i for i, (_, cpu, gpu) in enumerate(rows) if gpu >= cpu]
    if not slower or not_faster[-1] == len(rows) - 1:
        return None
    return slower[-1], rows[not_faster[-1] + 1][0]
