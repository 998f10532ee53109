"""Takes memory that was never set for zeros.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    image_line = cp.empty((rows, wide), image.dtype)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), weights.dtype)
    weights_line[:, :width] = weights
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    return line[: (rows + height - 1) * wide].reshape(rows + height - 1, wide)
