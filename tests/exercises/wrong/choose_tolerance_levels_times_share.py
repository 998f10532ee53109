"""Allows as many levels for each value of a share, whatever the number of threads.

Found: wrong.
"""

from math import ceil


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 2.0**-23 * ceil(n / threads) * 15 * magnitude
