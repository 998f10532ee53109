"""Compares on the host whether there is a limit: the comparison's answer has to be fetched.

Found: limit.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x -= cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    if limit > 0:
        x = cp.clip(x, -limit, limit) / limit
    return x.get()
