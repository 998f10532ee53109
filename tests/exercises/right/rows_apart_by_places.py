"""Stores the pixels at the places where they belong."""


def convolve_image(cp, image, weights):
    r, c = image.shape
    h, w = weights.shape
    W = c + w - 1
    idx = cp.arange(r)[:, None] * W + cp.arange(c)
    a = cp.zeros(r * W, dtype=image.dtype)
    a[idx] = image
    b = cp.zeros(h * W, dtype=weights.dtype)
    b.reshape(h, W)[:, :w] = weights
    return cp.convolve(a, b)[: (r + h - 1) * W].reshape(r + h - 1, W)
