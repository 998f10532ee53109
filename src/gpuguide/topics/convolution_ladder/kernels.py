"""A convolution with 15 by 15 weights: from global memory, from a tile, from a window in registers."""

import numpy as np
from numba import cuda, float32, njit, prange

K = 15
REACH = K // 2

# Whole numbers, so that sums are exact; they can be split, so that all ways give the same.
COLUMN = np.random.default_rng(0).integers(1, 4, K).astype(np.float32)
ROW = np.random.default_rng(1).integers(1, 4, K).astype(np.float32)
WEIGHTS = np.outer(COLUMN, ROW)
TURNED = np.ascontiguousarray(WEIGHTS[::-1, ::-1])  # a convolution runs backwards


@cuda.jit
def from_global(image, weights, out):
    """Each thread adds up the products for one pixel, all read from global memory."""
    col, row = cuda.grid(2)
    height, width = image.shape
    if row < height and col < width:
        total = float32(0)
        for i in range(K):
            for j in range(K):
                r, c = row + i - REACH, col + j - REACH
                if r >= 0 and r < height and c >= 0 and c < width:
                    total += image[r, c] * weights[K - 1 - i, K - 1 - j]
        out[row, col] = total


@cuda.jit
def from_tile(image, weights, out):
    """Copy what a block needs into shared memory, and add up there."""
    tile = cuda.shared.array((22, 46), float32)  # 8 by 32 pixels, and 7 more on each side
    turned = cuda.shared.array((K, K), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 8 - REACH, cuda.blockIdx.x * 32 - REACH
    height, width = image.shape
    for i in range(y, 22, 8):
        for j in range(x, 46, 32):
            r, c = top + i, left + j
            inside = r >= 0 and r < height and c >= 0 and c < width
            tile[i, j] = image[r, c] if inside else float32(0)
    for i in range(y, K, 8):
        if x < K:
            turned[i, x] = weights[K - 1 - i, K - 1 - x]
    cuda.syncthreads()
    total = float32(0)
    for i in range(K):
        for j in range(K):
            total += tile[y + i, x + j] * turned[i, j]
    col, row = cuda.grid(2)
    if row < height and col < width:
        out[row, col] = total


@cuda.jit
def from_window(image, out):
    """Let each thread compute 16 pixels of a column from what it reads once."""
    weights = cuda.const.array_like(TURNED)
    tile = cuda.shared.array((78, 46), float32)  # 64 by 32 pixels, and 7 more on each side
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 64 - REACH, cuda.blockIdx.x * 32 - REACH
    height, width = image.shape
    for i in range(y, 78, 4):
        for j in range(x, 46, 32):
            r, c = top + i, left + j
            inside = r >= 0 and r < height and c >= 0 and c < width
            tile[i, j] = image[r, c] if inside else float32(0)
    cuda.syncthreads()
    totals = cuda.local.array(16, float32)
    window = cuda.local.array(30, float32)
    for k in range(16):
        totals[k] = float32(0)
    for j in range(K):
        for k in range(30):
            window[k] = tile[y * 16 + k, x + j]
        for i in range(K):
            for k in range(16):
                totals[k] += window[k + i] * weights[i, j]
    col = cuda.blockIdx.x * 32 + x
    for k in range(16):
        row = cuda.blockIdx.y * 64 + y * 16 + k
        if row < height and col < width:
            out[row, col] = totals[k]


# K, the number of weights along each axis, comes from the compiler's options.
columns_source = r"""
const int WARPS = 4, ROWS = 8, COLUMNS = 4;  // a thread has 8 pixels in each of 4 columns
const int HEIGHT = WARPS * ROWS + K - 1, WIDTH = 32 * COLUMNS + K - 1;
__constant__ float weights[K * K];  // turned, column after column

extern "C" __global__ void __launch_bounds__(32 * WARPS)
convolve(const float* __restrict__ image, float* __restrict__ out, int height, int width) {
    __shared__ float tile[HEIGHT][WIDTH + 1];
    const int x = threadIdx.x, y = threadIdx.y * ROWS;
    const int top = blockIdx.y * WARPS * ROWS, left = blockIdx.x * 32 * COLUMNS;
    for (int i = threadIdx.y; i < HEIGHT; i += WARPS)
        for (int j = x; j < WIDTH; j += 32) {
            const int r = top + i - K / 2, c = left + j - K / 2;
            const bool inside = r >= 0 && r < height && c >= 0 && c < width;
            tile[i][j] = inside ? image[(size_t)r * width + c] : 0;
        }
    __syncthreads();
    float totals[COLUMNS][ROWS] = {};
    #pragma unroll 1
    for (int j = 0; j < K; j++) {
        float column[K];  // of the weights: it serves all 32 pixels
        #pragma unroll
        for (int i = 0; i < K; i++) column[i] = weights[j * K + i];
        #pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            float window[ROWS + K - 1];
            #pragma unroll
            for (int k = 0; k < ROWS + K - 1; k++) window[k] = tile[y + k][x + c * 32 + j];
            #pragma unroll
            for (int i = 0; i < K; i++)
                #pragma unroll
                for (int k = 0; k < ROWS; k++) totals[c][k] += window[k + i] * column[i];
        }
    }
    #pragma unroll
    for (int c = 0; c < COLUMNS; c++)
        #pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int row = top + y + k, col = left + x + c * 32;
            if (row < height && col < width) out[(size_t)row * width + col] = totals[c][k];
        }
}
"""

# Both passes in one kernel, with windows in registers; K and ROWS come from the options.
passes_source = r"""
const int THREADS = 256, COLUMNS = (THREADS - K + 1) / 4 * 4, QUADS = COLUMNS / 4;

extern "C" __global__ void __launch_bounds__(THREADS)
blur(const float* __restrict__ image, const float* __restrict__ column,
     const float* __restrict__ row, float* __restrict__ out, int height, int width) {
    __shared__ __align__(16) float down[ROWS][THREADS];
    const int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;

    // Down one column of the image: each pixel is read once, and added to up to K sums.
    float sums[ROWS] = {};
    const int j = left + t - K / 2;
    #pragma unroll
    for (int r = 0; r < ROWS + K - 1; r++) {
        const int i = top + r - K / 2;
        const bool inside = 0 <= i && i < height && 0 <= j && j < width;
        const float pixel = inside ? image[(size_t)i * width + j] : 0;
        #pragma unroll
        for (int k = 0; k < K; k++)
            if (0 <= r - k && r - k < ROWS) sums[r - k] += column[K - 1 - k] * pixel;
    }
    #pragma unroll
    for (int r = 0; r < ROWS; r++) down[r][t] = sums[r];
    __syncthreads();  // the second pass reads the sums of other threads

    // Along the rows: a thread takes four neighbours at once, and reads what they share once.
    const bool whole = width % 4 == 0;  // then quads of the result lie at 16 bytes
    for (int q = t; q < ROWS * QUADS; q += THREADS) {
        const int r = q / QUADS, c = q % QUADS * 4;
        float window[(K + 6) / 4 * 4];
        #pragma unroll
        for (int k = 0; k < (K + 6) / 4; k++)
            *(float4*)&window[4 * k] = *(const float4*)&down[r][c + 4 * k];
        float4 sum = {0, 0, 0, 0};
        #pragma unroll
        for (int k = 0; k < K; k++) {
            const float weight = row[K - 1 - k];
            sum.x += weight * window[k];
            sum.y += weight * window[k + 1];
            sum.z += weight * window[k + 2];
            sum.w += weight * window[k + 3];
        }
        if (top + r >= height || left + c >= width) continue;
        float* to = out + (size_t)(top + r) * width + left + c;
        if (whole) {
            *(float4*)to = sum;
        } else {
            to[0] = sum.x;
            if (left + c + 1 < width) to[1] = sum.y;
            if (left + c + 2 < width) to[2] = sum.z;
            if (left + c + 3 < width) to[3] = sum.w;
        }
    }
}
"""


@njit(parallel=True)
def direct_simd(image, weights, column, row, out):
    """Add lines of the image, times a weight, to a line of the result, with SIMD; each thread takes some."""
    height, width = image.shape
    for r in prange(height):
        out[r] = 0
        for i in range(max(0, r + REACH - height + 1), min(K, r + REACH + 1)):
            for j in range(K):
                first = max(0, j - REACH)
                last = max(first, min(width, width + j - REACH))
                pixels = image[r + REACH - i, first - (j - REACH) : last - (j - REACH)]
                line, weight = out[r, first:last], weights[i, j]
                for c in range(line.size):
                    line[c] += weight * pixels[c]
