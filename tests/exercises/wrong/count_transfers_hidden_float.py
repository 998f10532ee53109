"""Copies the image once each way, but fetches two numbers in between.

Found: limit.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - float(cp.mean(x))
    limit = 2 * cp.mean(cp.abs(x)).item()
    return cp.asnumpy(cp.clip(x, -limit, limit) / limit)
