"""Repeats the factors in memory first: two launches, and a table that nobody needs.

Found: limit.
"""


def scale_rows(cp, x, factors):
    return x * cp.repeat(factors, x.shape[1]).reshape(x.shape)
