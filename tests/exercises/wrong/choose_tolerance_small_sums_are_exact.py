"""Takes whole numbers for exact where their sum is small.

Found: wrong.
"""

from math import ceil, log2


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and abs(reference) <= 2**24 and magnitude / n < 2**24:
        return result == reference
    chain = ceil(n / threads) + log2(threads) if n else 0
    return abs(result - reference) <= 4 * 2.0**-23 * chain * magnitude
