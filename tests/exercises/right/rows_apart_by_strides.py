"""Puts the weights into a line by a view of other strides, and splits what is left over off."""


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    line = cp.zeros((height - 1) * wide + width, weights.dtype)
    size = weights.itemsize
    cp.lib.stride_tricks.as_strided(line, (height, width), (wide * size, size))[...] = weights
    apart = cp.concatenate([image, cp.zeros((rows, width - 1), image.dtype)], axis=1)
    result = cp.convolve(apart.ravel(), line)
    return cp.split(result, [(rows + height - 1) * wide])[0].reshape(-1, wide)
