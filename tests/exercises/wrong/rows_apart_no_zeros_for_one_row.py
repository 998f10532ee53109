"""Leaves the zeros out where the weights have one row.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    (r, c), (h, w) = image.shape, weights.shape
    wide = c + w - 1
    if h == 1:
        line = cp.convolve(image.ravel(), weights.ravel())
        out = cp.zeros((r, wide), image.dtype)
        out.ravel()[: line.size] = line
        return out
    a = cp.zeros((r, wide), image.dtype)
    a[:, :c] = image
    b = cp.zeros((h, wide), weights.dtype)
    b[:, :w] = weights
    return cp.convolve(a.ravel(), b.ravel())[: (r + h - 1) * wide].reshape(r + h - 1, wide)
