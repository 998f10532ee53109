"""Works in 64 bits, on pixels that went through 32.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    wide = c + w - 1
    a = cp.zeros((r, wide), image.dtype)
    a[:, :c] = image.astype(cp.int32)
    b = cp.zeros((h, wide), weights.dtype)
    b[:, :w] = weights.astype(cp.int32)
    return cp.convolve(a.ravel(), b.ravel())[: (r + h - 1) * wide].reshape(r + h - 1, wide)
