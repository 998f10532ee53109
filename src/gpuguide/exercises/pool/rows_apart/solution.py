def convolve_image(cp, image, weights):
    """Convolve an image with weights, by one convolution in one dimension."""
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1  # weights that begin at the last pixel of a row end with the row
    image_line = cp.zeros((rows, wide), image.dtype)
    image_line[:, :columns] = image
    weights_line = cp.zeros((height, wide), weights.dtype)
    weights_line[:, :width] = weights
    line = cp.convolve(image_line.ravel(), weights_line.ravel())
    return line[: (rows + height - 1) * wide].reshape(rows + height - 1, wide)
