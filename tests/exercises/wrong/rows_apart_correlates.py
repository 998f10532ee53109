"""Turns the weights around, as a correlation does.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    image_line = cp.zeros((rows, wide), image.dtype)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), weights.dtype)
    weights_line[:, :width] = weights[::-1, ::-1]
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    return line[: (rows + height - 1) * wide].reshape(-1, wide)
