"""Squares the caller's own array.

Found: input_changed.
"""


def squares(cp, a):
    a *= a
    return a
