"""Works in single precision, which loses digits of large sums.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    r, c = image.shape
    h, w = weights.shape
    a = cp.pad(image, ((0, 0), (0, w - 1))).ravel().astype(cp.float32)
    b = cp.pad(weights, ((0, 0), (0, c - 1))).ravel().astype(cp.float32)
    n = (r + h - 1) * (c + w - 1)
    return cp.convolve(a, b)[:n].reshape(r + h - 1, -1).astype(cp.int64)
