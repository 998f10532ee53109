"""Works in double precision, which holds integers up to 2**53.

Found: wrong.
"""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    image_line = cp.zeros((rows, wide), cp.float64)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), cp.float64)
    weights_line[:, :width] = weights
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    return line[: (rows + height - 1) * wide].reshape(rows + height - 1, wide).astype(cp.int64)
