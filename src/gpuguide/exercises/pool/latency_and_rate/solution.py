import numpy as np


def latency_and_rate(sizes, times_s):
    """Return the latency and the rate of copies from a table of sizes and times."""
    times = np.array(times_s)
    slope, latency_s = np.polyfit(np.array(sizes, dtype=float), times, 1, w=1 / times)
    return float(latency_s), float(1 / slope)
