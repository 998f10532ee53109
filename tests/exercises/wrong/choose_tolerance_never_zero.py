"""Takes a sum of 0 for one that was never written.

Found: wrong.
"""

import math


def close_enough(result, reference, n, threads, magnitude, integers):
    if result == 0 and n > 0:
        return False
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 4 * 2**-23 * (math.ceil(n / threads) + math.log2(threads)) * magnitude
