"""Works in 32 bits, which the products do not fit into.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    image_line = cp.zeros((rows, wide), cp.int32)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), cp.int32)
    weights_line[:, :width] = weights
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    return line[: (rows + height - 1) * wide].reshape(rows + height - 1, wide).astype(cp.int64)
