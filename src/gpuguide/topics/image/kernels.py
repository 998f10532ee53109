"""Stars on a photo: which pixels stand out, which of them belong together, and sums over each star."""

import numpy as np
from numba import cuda, float32, int64, njit, prange

# Gaussians in whole numbers that add up to 256: two passes of either are exact in float32.
NARROW = np.array([2, 9, 28, 55, 68, 55, 28, 9, 2], np.float32)
HALF = [1, 1, 2, 2, 3, 4, 6, 7, 9, 10, 12, 14, 15, 16, 17]
WIDE = np.array([*HALF, 18, *HALF[::-1]], np.float32)
LIMIT = np.float32(6 * 256 * 256)  # six shades of grey above the surroundings

REACH = 15  # of the wide weights
ROWS, THREADS = 8, 128  # of a block, whose outer threads help with the first pass alone
COLUMN = ROWS + 2 * REACH  # pixels that a thread reads
INSIDE = THREADS - 2 * REACH


def night_sky(height, width, rng):
    """Make a photo in bytes: stars, most of them faint, a band of light across the sky, and noise."""
    from scipy import ndimage

    sky = np.zeros((height, width), np.float32)
    n_stars = sky.size // 600
    brightness = 400 / (1 - rng.random(n_stars, np.float32)) ** 0.9
    sky.flat[rng.integers(0, sky.size, n_stars)] = brightness
    sky = ndimage.gaussian_filter(sky, 1.6)
    row, col = np.ogrid[:height, :width]
    sky += 20 + 60 * np.exp(-(((row - col) / 300) ** 2)).astype(np.float32)
    sky += 5 * rng.standard_normal(sky.shape, np.float32)
    return sky.clip(0, 255).astype(np.uint8)


# NumPy and SciPy, or CuPy and cupyx ----------------------------------------------------------------------


def blur(image, weights, ndimage):
    """Blur in two passes, down the columns and along the rows."""
    down = ndimage.convolve1d(image, weights, axis=0, output=np.float32)
    return ndimage.convolve1d(down, weights, axis=1)


def measure(image, labels, n, xp):
    """Add up pixels, light, light times row and light times column of each star."""
    place = xp.flatnonzero(labels)
    label, light = labels.ravel()[place], image.ravel()[place].astype(np.float64)
    row, col = place // image.shape[1], place % image.shape[1]
    what = xp.ones_like(light), light, light * row, light * col
    sums = [xp.bincount(label, weights=x, minlength=n + 1)[1:] for x in what]
    return xp.stack(sums, axis=1)


# On the GPU ----------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def reflected(i, n):
    """Return the index inside an image of n pixels that stands for i, as SciPy's reflect."""
    if i < 0:
        return -1 - i
    if i >= n:
        return 2 * n - 1 - i
    return i


@cuda.jit
def stands_out(image, mask):
    """Tell for each pixel whether it is brighter than its surroundings: two blurs and a comparison."""
    narrow, wide = cuda.const.array_like(NARROW), cuda.const.array_like(WIDE)
    soft = cuda.shared.array((ROWS, THREADS), float32)
    glow = cuda.shared.array((ROWS, THREADS), float32)
    pixels = cuda.local.array(COLUMN, float32)
    height, width = image.shape
    t = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * INSIDE

    # Down one column: each pixel is read once and serves the sums of all rows.
    col = reflected(min(left + t - REACH, width + REACH - 1), width)
    for k in range(COLUMN):
        row = min(top + k - REACH, height + REACH - 1)
        pixels[k] = image[reflected(row, height), col]
    for i in range(ROWS):
        a, b = float32(0), float32(0)
        for k in range(9):
            a += narrow[k] * pixels[i + REACH - 4 + k]
        for k in range(31):
            b += wide[k] * pixels[i + k]
        soft[i, t], glow[i, t] = a, b
    cuda.syncthreads()  # the second pass reads the sums of other threads

    if t < INSIDE and left + t < width:
        for i in range(ROWS):
            if top + i < height:
                a, b = float32(0), float32(0)
                for k in range(9):
                    a += narrow[k] * soft[i, t + REACH - 4 + k]
                for k in range(31):
                    b += wide[k] * glow[i, t + k]
                mask[top + i, left + t] = a - b > LIMIT


@cuda.jit
def add_up(image, labels, table):
    """Each thread adds its pixel to four sums of the star that it belongs to, if there is one."""
    col, row = cuda.grid(2)
    if row < labels.shape[0] and col < labels.shape[1]:
        label = labels[row, col]
        if label > 0:
            light = int64(image[row, col])
            cuda.atomic.add(table, (label - 1, 0), 1)
            cuda.atomic.add(table, (label - 1, 1), light)
            cuda.atomic.add(table, (label - 1, 2), light * row)
            cuda.atomic.add(table, (label - 1, 3), light * col)


# On all threads of the CPU -------------------------------------------------------------------------------


@njit
def add_scaled(weight, x, total):
    """Add a line of pixels, times a weight: neighbours are independent, so the compiler uses SIMD."""
    for j in range(total.size):
        total[j] += weight * x[j]


@njit
def blur_line(image, i, weights, line, total):
    """Blur down the columns into the middle of a line, reflect its ends, and blur along it."""
    (height, width), reach = image.shape, weights.size // 2
    down = line[reach : reach + width]
    down[:] = 0
    for k in range(weights.size):
        row = i + k - reach
        row = -1 - row if row < 0 else 2 * height - 1 - row if row >= height else row
        add_scaled(weights[k], image[row], down)
    for k in range(reach):
        line[reach - 1 - k], line[reach + width + k] = down[k], down[width - 1 - k]
    total[:] = 0
    for k in range(weights.size):
        add_scaled(weights[k], line[k:], total)


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
            n_runs[i + 1] = bits[0]
            for j in range(1, width):
                n_runs[i + 1] += bits[j] and not bits[j - 1]
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
