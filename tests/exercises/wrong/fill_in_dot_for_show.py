"""Lets the GPU work out the product, and returns NumPy's.

Found: limit.
"""


def dot(cp, a, b):
    product = cp.dot(cp.asarray(a), cp.asarray(b))
    float(product)
    return float((a * b).sum())
