"""Spreads the rows of the weights, but lets the rows of the image follow without a gap.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    line = cp.zeros((height, max(columns, width)), weights.dtype)
    line[:, :width] = weights
    out = cp.zeros((rows + height - 1, columns + width - 1), image.dtype)
    flat = cp.convolve(image.ravel(), line.ravel())
    n = min(flat.size, out.size)
    out.ravel()[:n] = flat[:n]
    return out
