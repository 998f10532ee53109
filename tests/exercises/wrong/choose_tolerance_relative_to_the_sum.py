"""Lets rounding grow with the sum, not with what was added up.

Found: wrong.
"""

from math import ceil, log2


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    chain = ceil(n / threads) + log2(threads)
    return abs(result - reference) <= 4 * 2.0**-23 * chain * abs(reference)
