"""Leaves the first mean to NumPy, whose number then travels with a launch.

Found: limit.
"""


def normalise(cp, image):
    x = cp.asarray(image) - float(image.mean())
    limit = 2 * cp.mean(cp.abs(x))
    return cp.asnumpy(cp.clip(x, -limit, limit) / limit)
