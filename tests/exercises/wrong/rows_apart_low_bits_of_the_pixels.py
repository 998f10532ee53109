"""Drops all but 31 bits of a pixel.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    wide = c + w - 1
    a = cp.zeros((r, wide), image.dtype)
    a[:, :c] = image & 0x7FFFFFFF
    b = cp.zeros((h, wide), weights.dtype)
    b[:, :w] = weights
    return cp.convolve(a.ravel(), b.ravel())[: (r + h - 1) * wide].reshape(r + h - 1, wide)
