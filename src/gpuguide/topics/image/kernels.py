"""Which pixels of a photo stand out, in one kernel; and all sums over its stars, in another."""

import numpy as np
from numba import cuda, float32

# Gaussians of sigma 1.5 and 6, in whole numbers that add up to 256: two passes are exact in float32.
NARROW = np.array([2, 9, 28, 55, 68, 55, 28, 9, 2], np.float32)
HALF = [1, 1, 2, 2, 3, 4, 6, 7, 9, 10, 12, 14, 15, 16, 17]
WIDE = np.array([*HALF, 18, *HALF[::-1]], np.float32)
LIMIT = np.float32(6 * 256 * 256)  # six shades of grey above the surroundings

# Of a block: each thread goes down a column, 15 more on each side than the block's own 98.
ROWS, THREADS, COLUMNS = 8, 128, 98


@cuda.jit(device=True)
def reflected(i, n):
    """Return which of n pixels stands for pixel i, as SciPy reflects an image."""
    if i < 0:
        return -1 - i
    if i >= n:
        return 2 * n - 1 - i
    return i


@cuda.jit(device=True)
def narrow_sum(values, first):
    """Add up nine values, times the narrow weights."""
    weights, total = cuda.const.array_like(NARROW), float32(0)
    for k in range(9):
        total += weights[k] * values[first + k]
    return total


@cuda.jit(device=True)
def wide_sum(values, first):
    """Add up 31 values, times the wide weights."""
    weights, total = cuda.const.array_like(WIDE), float32(0)
    for k in range(31):
        total += weights[k] * values[first + k]
    return total


@cuda.jit
def stands_out(image, mask):
    """Tell which pixels are brighter than their surroundings: two blurs, one comparison."""
    soft = cuda.shared.array((ROWS, THREADS), float32)
    glow = cuda.shared.array((ROWS, THREADS), float32)
    height, width = image.shape
    t = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS

    # Down one column: each pixel is read once and serves the sums of eight rows.
    pixels = cuda.local.array(38, float32)  # 15 more on each side
    col = reflected(min(left + t - 15, width + 14), width)
    for k in range(38):
        pixels[k] = image[reflected(min(top + k - 15, height + 14), height), col]
    for i in range(ROWS):
        soft[i, t], glow[i, t] = narrow_sum(pixels, i + 11), wide_sum(pixels, i)
    cuda.syncthreads()  # the second pass reads the sums of other threads

    # Along one row: 14 threads make seven pixels each.
    i, first = t // 14, t % 14 * 7
    if i < ROWS and top + i < height:
        line = cuda.local.array(37, float32)  # 15 more on each side
        middle = cuda.local.array(15, float32)  # 4 more on each side
        for k in range(37):
            line[k] = glow[i, first + k]
        for k in range(15):
            middle[k] = soft[i, first + 11 + k]
        for j in range(7):
            a, b = narrow_sum(middle, j), wide_sum(line, j)
            if left + first + j < width:
                mask[top + i, left + first + j] = a - b > LIMIT


@cuda.jit
def add_up(image, labels, table):
    """Each thread adds its pixel to the four sums of its star, if it belongs to one."""
    col, row = cuda.grid(2)
    if row < labels.shape[0] and col < labels.shape[1]:
        label = labels[row, col]
        if label > 0:
            light = int(image[row, col])
            cuda.atomic.add(table, (label - 1, 0), 1)
            cuda.atomic.add(table, (label - 1, 1), light)
            cuda.atomic.add(table, (label - 1, 2), light * row)
            cuda.atomic.add(table, (label - 1, 3), light * col)
