"""Allows the rounding of n additions in a row, which nobody makes.

Found: wrong.
"""


def close_enough(result, reference, n, threads, magnitude, integers):
    if integers and magnitude <= 2**24:
        return result == reference
    return abs(result - reference) <= 2.0**-23 * n * magnitude
