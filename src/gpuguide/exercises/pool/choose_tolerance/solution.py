from math import ceil, log2

EPS = 2.0**-23  # one step of float32, relative to the number
ROOM = 4  # the bound is never too narrow, and still far below a lost share


def close_enough(result, reference, n, threads, magnitude, integers):
    """Return whether rounding can explain the difference of a float32 sum from the exact one."""
    if integers and magnitude <= 2**24:
        return result == reference  # nothing was rounded on the way
    chain = ceil(n / threads) + log2(threads)
    return abs(result - reference) <= ROOM * EPS * chain * magnitude
