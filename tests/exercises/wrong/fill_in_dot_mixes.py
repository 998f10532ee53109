"""Copies only one of the vectors.

Found: exception.
"""


def dot(cp, a, b):
    return float(cp.dot(cp.asarray(a), b))
