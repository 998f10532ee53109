"""Multiplies on the GPU, and fetches all products to add them up.

Found: limit.
"""


def dot(cp, a, b):
    products = cp.asarray(a) * cp.asarray(b)
    return float(cp.asnumpy(products).sum())
