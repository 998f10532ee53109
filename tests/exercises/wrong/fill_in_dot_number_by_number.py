"""Fetches each number, and multiplies on the host.

Found: limit.
"""


def dot(cp, a, b):
    a_gpu = cp.asarray(a)
    b_gpu = cp.asarray(b)
    return sum(float(x) * float(y) for x, y in zip(a_gpu, b_gpu, strict=True))
