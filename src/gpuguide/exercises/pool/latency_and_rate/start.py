def latency_and_rate(sizes, times_s):
    """Return the latency and the rate of copies from a table of sizes and times."""
    slope = (times_s[1] - times_s[0]) / (sizes[1] - sizes[0])
    latency_s = times_s[0] - slope * sizes[0]
    return latency_s, 1 / slope
