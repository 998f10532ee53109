"""Is right, but sorts the caller's lists.

Found: input_changed.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    cpu_s[:] = [cpu_s[i] for i in order]
    gpu_s[:] = [gpu_s[i] for i in order]
    sizes.sort()
    slower = [i for i in range(len(sizes)) if gpu_s[i] > cpu_s[i]]
    not_faster = [i for i in range(len(sizes)) if gpu_s[i] >= cpu_s[i]]
    if not slower or not_faster[-1] == len(sizes) - 1:
        return None
    return sizes[slower[-1]], sizes[not_faster[-1] + 1]
