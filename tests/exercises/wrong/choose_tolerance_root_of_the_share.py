"""Lets errors cancel out, as they do on average and not always.

Found: wrong.
"""

from math import ceil, log2, sqrt


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 4 * 2.0**-23 * sqrt(ceil(n / threads)) * log2(n + 2) * magnitude
