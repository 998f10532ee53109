"""Multiplies in place, in the vector of the caller.

Found: input_changed.
"""


def dot(cp, a, b):
    a *= b
    return float(cp.asarray(a).sum())
