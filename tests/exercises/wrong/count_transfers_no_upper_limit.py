"""Clips what is too small, and forgets what is too large.

Found: wrong.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    return cp.asnumpy(cp.maximum(x, -limit) / limit)
