"""Rounds the sum of whole numbers before it compares.

Found: wrong.
"""

import math


def close_enough(result, reference, n, threads, magnitude, integers):
    if math.isnan(result):
        return False
    if integers and magnitude <= 2**24:
        return round(result) == round(reference)
    return abs(result - reference) <= 4 * 2**-23 * (math.ceil(n / threads) + math.log2(threads)) * magnitude
