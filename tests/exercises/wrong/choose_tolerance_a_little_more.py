"""Adds a number that looks small, and is large beside the smallest sums of float32.

Found: wrong.
"""

from math import ceil, log2


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 1e-30 + 2.0**-23 * (ceil(n / threads) + log2(threads)) * magnitude
