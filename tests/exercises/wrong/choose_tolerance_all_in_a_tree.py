"""Forgets that a thread adds up its own share first.

Found: wrong.
"""

from math import log2


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 4 * 2.0**-23 * log2(max(n, 2)) * magnitude
