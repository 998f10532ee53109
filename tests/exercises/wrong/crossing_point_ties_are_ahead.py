"""Counts an equal time as faster.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    slower = [i for i, (_, cpu, gpu) in enumerate(rows) if gpu > cpu]
    if not slower or slower[-1] == len(rows) - 1:
        return None
    return rows[slower[-1]][0], rows[slower[-1] + 1][0]
