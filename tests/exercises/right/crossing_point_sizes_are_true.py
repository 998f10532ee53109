"""Takes a size that is there for true: none is 0."""


def crossing_point(sizes, cpu_s, gpu_s):
    slower_at = faster_at = None
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        if gpu_s[i] < cpu_s[i]:
            faster_at = faster_at or sizes[i]
        else:
            faster_at = None
            if gpu_s[i] > cpu_s[i]:
                slower_at = sizes[i]
    if not slower_at or not faster_at:
        return None
    return slower_at, faster_at
