"""Compares the product on the host, which fetches a second number.

Found: limit.
"""


def dot(cp, a, b):
    product = cp.dot(cp.asarray(a), cp.asarray(b))
    if product == 0:
        return 0.0
    return float(product)
