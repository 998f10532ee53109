"""Lets NumPy do it.

Found: limit.
"""


def scale_rows(cp, x, factors):
    return cp.asarray(x.get() * factors.get()[:, None])
