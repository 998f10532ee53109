"""Leaves out the zeros at the ends, so that nothing is left over."""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    a = cp.zeros((rows, wide), image.dtype)
    a[:, :columns] = image
    b = cp.zeros((height, wide), weights.dtype)
    b[:, :width] = weights
    a = a.ravel()[: (rows - 1) * wide + columns]
    b = b.ravel()[: (height - 1) * wide + width]
    return cp.convolve(a, b).reshape(rows + height - 1, wide)
