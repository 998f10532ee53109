"""Sets all of the memory that it asked for."""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    a = cp.empty((rows, wide), image.dtype)
    a[:, :columns] = image
    a[:, columns:] = 0
    b = cp.empty((height, wide), weights.dtype)
    b.fill(0)
    b[:, :width] = weights
    line = cp.convolve(a.ravel(), b.ravel())
    return line[: (rows + height - 1) * wide].reshape(-1, wide)
