"""Convolves magnitudes.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    wide = c + w - 1
    a = cp.zeros((r, wide), image.dtype)
    a[:, :c] = abs(image)
    b = cp.zeros((h, wide), weights.dtype)
    b[:, :w] = abs(weights)
    return cp.convolve(a.ravel(), b.ravel())[: (r + h - 1) * wide].reshape(r + h - 1, wide)
