"""Keeps a table for each shape, and returns it again and again.

Found: wrong.
"""

TABLES = {}


def scale_rows(cp, x, factors):
    if x.shape not in TABLES:
        TABLES[x.shape] = cp.empty_like(x)
    cp.multiply(x, factors[:, None], out=TABLES[x.shape])
    return TABLES[x.shape]
