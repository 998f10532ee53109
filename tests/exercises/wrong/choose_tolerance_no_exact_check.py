"""Trusts the bound with whole numbers, too.

Found: wrong.
"""

from math import ceil, log2


def close_enough(result, reference, n, threads, magnitude, integers):
    chain = ceil(n / threads) + log2(threads)
    return abs(result - reference) <= 4 * 2.0**-23 * chain * magnitude
