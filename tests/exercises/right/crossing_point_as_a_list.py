"""Returns the two sizes as a list."""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    slower = [size for size, cpu, gpu in rows if gpu > cpu]
    not_faster = [size for size, cpu, gpu in rows if gpu >= cpu]
    if not slower or not_faster[-1] == rows[-1][0]:
        return None
    return [slower[-1], min(size for size in sizes if size > not_faster[-1])]
