"""Fetches both, and convolves on the CPU.

Found: limit.
"""

import numpy as np


def convolve_image(cp, image, weights):
    rows, columns = image.shape
    height, width = weights.shape
    wide = columns + width - 1
    lines = [np.zeros((rows, wide), image.dtype), np.zeros((height, wide), image.dtype)]
    lines[0][:, :columns] = image.get()
    lines[1][:, :width] = weights.get()
    line = np.convolve(lines[0].ravel(), lines[1].ravel())
    return cp.asarray(line[: (rows + height - 1) * wide].reshape(-1, wide))
