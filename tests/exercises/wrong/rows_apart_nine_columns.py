"""Puts eight zeros between rows, enough for weights of nine columns.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    wide = c + 8
    a = cp.zeros((r, wide), image.dtype)
    a[:, :c] = image
    b = cp.zeros((h, wide), weights.dtype)
    b[:, :w] = weights[:, :wide]
    return cp.convolve(a.ravel(), b.ravel())[: (r + h - 1) * wide].reshape(r + h - 1, wide)[:, : c + w - 1]
