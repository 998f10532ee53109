"""Forgets to clip.

Found: wrong.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    return cp.asnumpy(x / limit)
