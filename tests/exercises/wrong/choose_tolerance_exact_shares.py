"""Takes n / threads for the values of a thread, where a thread that has any has at least one.

Found: wrong.
"""

from math import log2


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 2.0**-23 * (n / threads) * max(log2(threads), 1) * magnitude
