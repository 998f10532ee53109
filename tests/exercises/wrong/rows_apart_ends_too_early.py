"""Leaves the last rows of the result as the memory was.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    image_line = cp.zeros((rows, wide), image.dtype)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), weights.dtype)
    weights_line[:, :width] = weights
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    out = cp.empty((rows + height - 1, wide), image.dtype)
    out[:rows] = line[: rows * wide].reshape(rows, wide)
    return out
