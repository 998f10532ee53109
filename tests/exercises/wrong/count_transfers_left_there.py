"""Forgets the way back.

Found: wrong.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    return cp.clip(x, -limit, limit) / limit
