"""Makes both lines like the inputs, of another shape."""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    a = cp.zeros_like(image, shape=(rows, wide))
    a[:, :columns] = image
    b = cp.zeros_like(weights, shape=(height, wide))
    b[:, :width] = weights
    line = cp.convolve(a.ravel(), b.ravel())
    return line[: (rows + height - 1) * wide].reshape(-1, wide)
