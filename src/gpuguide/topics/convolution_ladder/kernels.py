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
quads_source = r"""
const int ROWS = 2, WARPS = 8;  // a thread has four neighbours in each of two rows
const int HEIGHT = WARPS * ROWS + K - 1;
const int BEFORE = (K / 2 + 3) / 4 * 4;  // pixels left of a block's first, a multiple of 4
const int WIDTH = (128 + 2 * BEFORE) / 4, SKIP = BEFORE - K / 2;
const int NEAR = (SKIP + K + 6) / 4;  // quads that a thread needs of each row
__constant__ float weights[K][K];  // turned

extern "C" __global__ void __launch_bounds__(32 * WARPS)
convolve(const float* __restrict__ image, float* __restrict__ out, int height, int width) {
    __shared__ float4 tile[HEIGHT][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y * ROWS, t = threadIdx.y * 32 + x;
    const int top = (int)blockIdx.y * WARPS * ROWS - K / 2;
    const int left = (int)blockIdx.x * 128 - BEFORE;
    const bool inside = top >= 0 && top + HEIGHT <= height && left >= 0
                        && left + 4 * WIDTH <= width && width % 4 == 0;
    if (inside) {
        #pragma unroll 4
        for (int k = t; k < HEIGHT * WIDTH; k += 32 * WARPS) {
            const float* from = image + (size_t)(top + k / WIDTH) * width + left;
            tile[k / WIDTH][k % WIDTH] = *(const float4*)(from + 4 * (k % WIDTH));
        }
    } else {
        for (int k = t; k < HEIGHT * WIDTH * 4; k += 32 * WARPS) {
            const int i = k / (4 * WIDTH), j = k % (4 * WIDTH), r = top + i, c = left + j;
            const bool there = r >= 0 && r < height && c >= 0 && c < width;
            ((float*)tile[i])[j] = there ? image[(size_t)r * width + c] : 0;
        }
    }
    __syncthreads();
    float totals[ROWS][4] = {};
    #pragma unroll
    for (int i = 0; i < ROWS + K - 1; i++) {
        float near[4 * NEAR];
        #pragma unroll
        for (int q = 0; q < NEAR; q++) *(float4*)&near[4 * q] = tile[y + i][x + q];
        #pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (0 <= i - r && i - r < K)  // known to the compiler, as are all indices of weights
                #pragma unroll
                for (int j = 0; j < K; j++)
                    #pragma unroll
                    for (int c = 0; c < 4; c++)
                        totals[r][c] += near[SKIP + j + c] * weights[i - r][j];
    }
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int row = blockIdx.y * WARPS * ROWS + y + r, col = blockIdx.x * 128 + 4 * x;
        if (row >= height || col >= width) continue;
        float* to = out + (size_t)row * width + col;
        if (width % 4 == 0) {
            *(float4*)to = *(float4*)totals[r];
        } else {
            #pragma unroll
            for (int c = 0; c < 4; c++)
                if (col + c < width) to[c] = totals[r][c];
        }
    }
}
"""

# Both passes in one kernel: a block marches down the image. K comes from the options.
passes_source = r"""
const int THREADS = 128, ROWS = 9;  // rows of the image in each round
const int COLUMNS = (THREADS - K + 1) / 4 * 4, QUADS = COLUMNS / 4;
// With few weights, registers are there for seven blocks on a multiprocessor.
__constant__ float column[K], row[K];  // turned

extern "C" __global__ void __launch_bounds__(THREADS, K > 15 ? 1 : 7)
blur(const float* __restrict__ image, float* __restrict__ out, int height, int width, int rows) {
    __shared__ __align__(16) float down[2][ROWS][THREADS + 4];
    const int t = threadIdx.x, top = blockIdx.y * rows, bottom = min(top + rows, height);
    const int left = blockIdx.x * COLUMNS, j = left + t - K / 2;
    const bool inside = 0 <= j && j < width && t < COLUMNS + K - 1;
    const float* below = image + (size_t)(top + ROWS + K - 1 - K / 2) * width + j;  // under the window

    float window[ROWS + K - 1];  // a piece of one column of the image
    #pragma unroll
    for (int k = 0; k < ROWS + K - 1; k++) {
        const int i = top + k - K / 2;
        window[k] = inside && 0 <= i && i < height ? image[(size_t)i * width + j] : 0;
    }
    for (int start = top, half = 0; start < bottom; start += ROWS, half = 1 - half) {
        float next[ROWS];  // on their way while this round computes
        const bool more = inside && start + ROWS < bottom;
        const int n_below = more ? height - (start + ROWS + K - 1 - K / 2) : 0;
        #pragma unroll
        for (int k = 0; k < ROWS; k++) {
            next[k] = k < n_below ? *below : 0;
            below += width;
        }
        // Down the column: each thread has one sum for each row.
        #pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float sum = 0;
            #pragma unroll
            for (int k = 0; k < K; k++) sum += column[k] * window[r + k];
            down[half][r][t] = sum;
        }
        __syncthreads();  // one is enough, as the next round writes into the other half
        // Along the rows: a thread takes four neighbours at once, and reads what they share once.
        #pragma unroll
        for (int turn = 0; turn < (ROWS * QUADS + THREADS - 1) / THREADS; turn++) {
            const int q = t + turn * THREADS, r = q / QUADS, c = q % QUADS * 4;
            if (q >= ROWS * QUADS) break;
            float near[(K + 6) / 4 * 4];
            #pragma unroll
            for (int k = 0; k < (K + 6) / 4; k++)
                *(float4*)&near[4 * k] = *(const float4*)&down[half][r][c + 4 * k];
            float4 sum = {0, 0, 0, 0};
            #pragma unroll
            for (int k = 0; k < K; k++) {
                sum.x += row[k] * near[k];
                sum.y += row[k] * near[k + 1];
                sum.z += row[k] * near[k + 2];
                sum.w += row[k] * near[k + 3];
            }
            if (start + r >= bottom || left + c >= width) continue;
            float* to = out + (size_t)(start + r) * width + left + c;
            if (width % 4 == 0) {
                *(float4*)to = sum;
            } else {
                to[0] = sum.x;
                if (left + c + 1 < width) to[1] = sum.y;
                if (left + c + 2 < width) to[2] = sum.z;
                if (left + c + 3 < width) to[3] = sum.w;
            }
        }
        #pragma unroll
        for (int k = 0; k < K - 1; k++) window[k] = window[k + ROWS];
        #pragma unroll
        for (int k = 0; k < ROWS; k++) window[K - 1 + k] = next[k];
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
