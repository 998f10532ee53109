"""Stars on all threads of the CPU: lines of pixels with SIMD, and runs of bright ones."""

import numpy as np
from numba import njit, prange

from gpuguide.topics.image.kernels import LIMIT


@njit
def add_pair(weight, x, y, total):
    """Add two lines, times a weight: neighbours are independent, so the compiler uses SIMD."""
    for j in range(total.size):
        total[j] += weight * (np.float32(x[j]) + np.float32(y[j]))


@njit
def blur_line(image, i, weights, line, total):
    """Blur down the columns into the middle of a line, reflect its ends, and blur along it."""
    (height, width), reach = image.shape, weights.size // 2
    down = line[reach : reach + width]
    down[:] = 0
    add_pair(weights[reach] / 2, image[i], image[i], down)
    for k in range(1, reach + 1):  # the weights are the same on both sides
        above, below = i - k, i + k
        above = -1 - above if above < 0 else above
        below = 2 * height - 1 - below if below >= height else below
        add_pair(weights[reach - k], image[above], image[below], down)
    for k in range(reach):
        line[reach - 1 - k], line[reach + width + k] = down[k], down[width - 1 - k]
    total[:] = 0
    add_pair(weights[reach] / 2, down, down, total)
    for k in range(reach):
        add_pair(weights[k], line[k:], line[2 * reach - k :], total)


@njit(parallel=True)
def bright_runs(image, narrow, wide, mask):
    """Fill in the mask, and count the runs of bright pixels in each row."""
    height, width = image.shape
    n_runs = np.zeros(height + 1, np.int64)
    for strip in prange((height + 15) // 16):
        line = np.empty(width + wide.size, np.float32)
        soft, glow = np.empty(width, np.float32), np.empty(width, np.float32)
        for i in range(16 * strip, min(16 * strip + 16, height)):
            blur_line(image, i, narrow, line, soft)
            blur_line(image, i, wide, line, glow)
            bits = mask[i]
            for j in range(width):
                bits[j] = soft[j] - glow[j] > LIMIT
            runs = np.int32(bits[0])
            for j in range(1, width):
                runs += bits[j] > bits[j - 1]
            n_runs[i + 1] = runs
    return np.cumsum(n_runs)


@njit(parallel=True)
def sum_runs(image, mask, first):
    """Write down where each run begins and ends, and add up its pixels."""
    ends, sums = np.empty((2, first[-1]), np.int64), np.empty((first[-1], 4), np.int64)
    for i in prange(len(mask)):
        line, bits, run, j = image[i], mask[i], first[i], 0
        while j < bits.size:
            if not bits[j]:
                j += 1
                continue
            begin, light, moment = j, 0, 0
            while j < bits.size and bits[j]:
                light += line[j]
                moment += line[j] * j
                j += 1
            ends[0, run], ends[1, run] = begin, j
            sums[run, 0], sums[run, 1] = j - begin, light
            sums[run, 2], sums[run, 3] = light * i, moment
            run += 1
    return ends, sums


@njit
def root(parent, run):
    """Return the first run of a star; on the way, let each run skip one."""
    while parent[run] != run:
        parent[run] = parent[parent[run]]
        run = parent[run]
    return run


@njit
def join_runs(first, ends, sums, table):
    """Join runs that touch from row to row, add up those of each star, and return how many there are."""
    parent = np.arange(len(sums))
    for i in range(1, first.size - 1):
        above, run = first[i - 1], first[i]
        while above < first[i] and run < first[i + 1]:
            if ends[0, above] < ends[1, run] and ends[0, run] < ends[1, above]:
                a, b = root(parent, above), root(parent, run)
                parent[max(a, b)] = min(a, b)
            if ends[1, above] < ends[1, run]:
                above += 1
            else:
                run += 1
    star, n = np.empty(len(sums), np.int64), 0
    for run in range(len(sums)):
        if parent[run] == run:
            star[run] = n
            table[n] = 0
            n += 1
        for k in range(4):
            table[star[root(parent, run)], k] += sums[run, k]
    return n
