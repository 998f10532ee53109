"""Clips above at three times the mean.

Found: wrong.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    return cp.asnumpy(cp.clip(x, -limit, 1.5 * limit) / limit)
