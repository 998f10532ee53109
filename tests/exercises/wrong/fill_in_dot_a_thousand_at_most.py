"""Adds up the first thousand products.

Found: wrong.
"""


def dot(cp, a, b):
    a_gpu, b_gpu = cp.asarray(a), cp.asarray(b)
    return float((a_gpu[:1000] * b_gpu[:1000]).sum())
