"""Overwrites the caller's table.

Found: input_changed.
"""


def scale_rows(cp, x, factors):
    x *= factors[:, None]
    return x
