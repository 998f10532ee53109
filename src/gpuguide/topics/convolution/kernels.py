"""Both passes of a separable filter in one kernel of the GPU, and in lines of pixels on the CPU."""

import numpy as np
from numba import njit, prange

# ROWS, THREADS and K, the number of weights along each axis, come from the compiler's options.
blur_source = r"""
extern "C" __global__ void blur(const float* __restrict__ image, const float* __restrict__ column,
                                const float* __restrict__ row, float* __restrict__ out,
                                int height, int width) {
    // A block makes ROWS rows of the result; its outer threads help with the first pass alone.
    const int COLUMNS = THREADS - K + 1;
    __shared__ float down[ROWS][THREADS];
    const int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;

    // Down one column of the image: each pixel is read once, and added to up to K sums in registers.
    float sums[ROWS] = {};
    const int j = left + t - K / 2;
    if (0 <= j && j < width) {
        #pragma unroll
        for (int r = 0; r < ROWS + K - 1; r++) {
            const int i = top + r - K / 2;
            const float pixel = 0 <= i && i < height ? image[(long long)i * width + j] : 0;
            #pragma unroll
            for (int k = 0; k < K; k++)
                if (0 <= r - k && r - k < ROWS) sums[r - k] += column[K - 1 - k] * pixel;
        }
    }
    #pragma unroll
    for (int r = 0; r < ROWS; r++) down[r][t] = sums[r];
    __syncthreads();  // the second pass reads the sums of other threads

    if (t >= COLUMNS || left + t >= width) return;
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float sum = 0;
        #pragma unroll
        for (int k = 0; k < K; k++) sum += row[K - 1 - k] * down[r][t + k];
        if (top + r < height) out[(long long)(top + r) * width + left + t] = sum;
    }
}"""

# Rows of a block, and its threads, on the GPU; rows that a CPU thread takes at a time.
ROWS, THREADS_PER_BLOCK = 16, 128
STRIP = 16


@njit
def add_scaled(weight, x, total):
    """Add a line of pixels, times a weight: neighbours are independent, so the compiler uses SIMD."""
    for j in range(total.size):
        total[j] += weight * x[j]


@njit(parallel=True)
def separable_simd(image, weights, column, row, out):
    """Make both passes line by line, in float32, and share the strips out among all CPU threads."""
    height, width = image.shape
    half, beside = column.size // 2, row.size // 2
    for strip in prange((height + STRIP - 1) // STRIP):
        line = np.zeros(width + 2 * beside, np.float32)
        down = line[beside : beside + width]
        for i in range(strip * STRIP, min(strip * STRIP + STRIP, height)):
            down[:] = 0
            for k in range(column.size):
                if 0 <= i + half - k < height:
                    add_scaled(column[k], image[i + half - k], down)
            out[i] = 0
            for k in range(row.size):
                add_scaled(row[k], line[2 * beside - k :], out[i])
