"""Is right for tables in order, but sorts the caller's lists.

Found: input_changed.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    rows = sorted(zip(sizes, times_s, strict=True))
    sizes[:] = [size for size, _ in rows]
    times_s[:] = [time for _, time in rows]
    times = np.array(times_s)
    slope, latency_s = np.polyfit(np.array(sizes, dtype=float), times, 1, w=1 / times)
    return latency_s, 1 / slope
