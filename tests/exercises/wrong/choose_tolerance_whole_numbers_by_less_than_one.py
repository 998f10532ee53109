"""Lets the sum of whole numbers have a fraction.

Found: wrong.
"""

import math


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return abs(result - reference) < 1
    return abs(result - reference) <= 4 * 2**-23 * (math.ceil(n / threads) + math.log2(threads)) * magnitude
