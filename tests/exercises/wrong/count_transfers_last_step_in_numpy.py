"""Brings the limit back with the image, and divides in NumPy.

Found: limit.
"""


def normalise(cp, image):
    x = cp.asarray(image)
    x = x - cp.mean(x)
    limit = 2 * cp.mean(cp.abs(x))
    back = cp.asnumpy(cp.concatenate([cp.clip(x, -limit, limit).ravel(), limit.reshape(1)]))
    return (back[:-1] / back[-1]).reshape(image.shape)
