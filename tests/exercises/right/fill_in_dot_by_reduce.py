"""Adds up by the method of a universal function."""


def dot(cp, a, b):
    return float(cp.add.reduce(cp.asarray(a) * cp.asarray(b)))
