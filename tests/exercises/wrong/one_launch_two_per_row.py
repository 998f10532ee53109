"""Collects the rows and puts them together at the end.

Found: limit.
"""


def scale_rows(cp, x, factors):
    rows = [x[row] * factors[row] for row in range(x.shape[0])]
    return cp.stack(rows)
