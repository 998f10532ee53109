"""Refuses what is far off, and NaN is not.

Found: wrong.
"""

from math import ceil, log2


def close_enough(result, reference, n, threads, magnitude, integers):
    bound = 4 * 2.0**-23 * (ceil(n / threads) + log2(threads)) * magnitude
    if integers and magnitude <= 2**24:
        bound = 0
    return not abs(result - reference) > bound
