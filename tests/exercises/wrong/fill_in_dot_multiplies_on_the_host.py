"""Sends the products, which NumPy made, and only adds them up on the GPU.

Found: limit.
"""


def dot(cp, a, b):
    return float(cp.sum(cp.asarray(a * b)))
