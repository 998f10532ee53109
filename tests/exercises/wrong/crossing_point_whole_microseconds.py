"""Rounds the times to whole microseconds.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    slower_at = faster_at = None
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        cpu, gpu = round(cpu_s[i] * 1e6), round(gpu_s[i] * 1e6)
        if gpu < cpu:
            if faster_at is None:
                faster_at = sizes[i]
        else:
            faster_at = None
            if gpu > cpu:
                slower_at = sizes[i]
    return None if None in (slower_at, faster_at) else (slower_at, faster_at)
