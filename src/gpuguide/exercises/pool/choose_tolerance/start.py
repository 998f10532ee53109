def close_enough(result, reference, n, threads, magnitude, integers):
    """Return whether rounding can explain the difference of a float32 sum from the exact one."""
    return abs(result - reference) <= 1e-5 * abs(reference)
