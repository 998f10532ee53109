"""Takes times for equal that differ in their last digits.

Found: wrong.
"""

import math


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    slower = [size for size, cpu, gpu in rows if gpu > cpu and not math.isclose(gpu, cpu)]
    not_faster = [size for size, cpu, gpu in rows if gpu > cpu or math.isclose(gpu, cpu)]
    faster = [size for size in sizes if not_faster and size > not_faster[-1]]
    return (slower[-1], min(faster)) if slower and faster else None
