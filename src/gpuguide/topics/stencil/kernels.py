"""Heat that flows over a plate: a cell per thread, eight cells per thread, several steps in a launch."""

import numpy as np
from numba import cuda, float32, njit, prange, uint32

ROWS = 8
COLUMN = ROWS + 2  # eight cells, and one above and below


@cuda.jit
def one_cell(now, then):
    """Each thread computes one cell: the mean of its four neighbours."""
    col, row = cuda.grid(2)
    rows, cols = now.shape
    if row > 0 and row < rows - 1 and col > 0 and col < cols - 1:
        up_and_down = now[row - 1, col] + now[row + 1, col]
        then[row, col] = float32(0.25) * (up_and_down + (now[row, col - 1] + now[row, col + 1]))
    elif row < rows and col < cols:  # the edge stays as it is
        then[row, col] = now[row, col]


@cuda.jit
def eight_rows(now, then):
    """Each thread computes eight cells of a column, and loads all that it needs first."""
    one, rows, cols = uint32(1), now.shape[0], now.shape[1]
    col = uint32(cuda.grid(1))
    first = uint32(cuda.blockIdx.y * ROWS)
    if first > 0 and first + uint32(ROWS) < rows and col > 0 and col < cols - 1:
        column = cuda.local.array(COLUMN, float32)
        beside = cuda.local.array(ROWS, float32)
        for k in range(COLUMN):
            column[k] = now[first + uint32(k) - one, col]
        for k in range(ROWS):
            row = first + uint32(k)
            beside[k] = now[row, col - one] + now[row, col + one]
        for k in range(ROWS):
            up_and_down = column[k] + column[k + 2]
            then[first + uint32(k), col] = float32(0.25) * (up_and_down + beside[k])
    else:  # near the edge of the plate
        for k in range(ROWS):
            row = first + uint32(k)
            if row > 0 and row < rows - 1 and col > 0 and col < cols - 1:
                up_and_down = now[row - one, col] + now[row + one, col]
                sides = now[row, col - one] + now[row, col + one]
                then[row, col] = float32(0.25) * (up_and_down + sides)
            elif row < rows and col < cols:
                then[row, col] = now[row, col]


# The body of cp.ElementwiseKernel("raw float32 now", "float32 then", ...): CuPy declares `i` and `then`.
elementwise_source = r"""
const unsigned rows = now.shape()[0], cols = now.shape()[1];
const unsigned cell = i, row = cell / cols, col = cell % cols;
if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1)
    then = 0.25f * ((now[i - cols] + now[i + cols]) + (now[i - 1] + now[i + 1]));
else
    then = now[i];  // the edge stays as it is
"""


# A block computes 52 by 52 cells. What it needs for that shrinks by a ring in each step.
heat_source = r"""
const int SIDE = 64, THREADS = 8, ROWS = SIDE / THREADS;  // 64 by 8 threads, 8 rows for each
const int STEPS = 6, INSIDE = SIDE - 2 * STEPS;

extern "C" __global__ void __launch_bounds__(SIDE * THREADS)
heat(const float* __restrict__ now, float* __restrict__ then, int rows, int cols) {
    __shared__ float tile[2][SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y * ROWS;
    const int col = blockIdx.x * INSIDE + x - STEPS, top = blockIdx.y * INSIDE + y - STEPS;
    float cells[ROWS];  // the thread's own rows of its column, in registers
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = top + i;
        const bool there = row >= 0 && row < rows && col >= 0 && col < cols;
        cells[i] = there ? now[(size_t)row * cols + col] : 0;
        tile[0][y + i][x] = cells[i];
    }
    __syncthreads();
    #pragma unroll
    for (int step = 0; step < STEPS; step++) {
        float (*from)[SIDE] = tile[step % 2], (*to)[SIDE] = tile[1 - step % 2];
        const float above = y > 0 ? from[y - 1][x] : 0;
        const float below = y + ROWS < SIDE ? from[y + ROWS][x] : 0;
        float next[ROWS];
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float left = x > 0 ? from[y + i][x - 1] : 0;
            const float right = x + 1 < SIDE ? from[y + i][x + 1] : 0;
            const float up = i > 0 ? cells[i - 1] : above;
            const float down = i + 1 < ROWS ? cells[i + 1] : below;
            const int row = top + i;
            const bool inside = 0 < row && row < rows - 1 && 0 < col && col < cols - 1;
            next[i] = inside ? 0.25f * ((up + down) + (left + right)) : cells[i];
        }
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            cells[i] = next[i];
            to[y + i][x] = next[i];
        }
        __syncthreads();  // the next step reads what neighbours have stored
    }
    if (x < STEPS || x >= SIDE - STEPS || col >= cols) return;
    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (y + i >= STEPS && y + i < SIDE - STEPS && top + i < rows)
            then[(size_t)(top + i) * cols + col] = cells[i];
}
"""


@cuda.jit(device=True)
def next_cell(now, row, col):
    """Return the mean of the four neighbours, or on the edge the cell itself."""
    one, rows, cols = uint32(1), now.shape[0], now.shape[1]
    if row > 0 and row < rows - 1 and col > 0 and col < cols - 1:
        up_and_down = now[row - one, col] + now[row + one, col]
        return float32(0.25) * (up_and_down + (now[row, col - one] + now[row, col + one]))
    return now[row, col]


@cuda.jit(device=True)
def one_step(now, then):
    """Share the rows out among all blocks, and the cells of a row among the threads of a block."""
    row = uint32(cuda.blockIdx.x)
    while row < now.shape[0]:
        col = uint32(cuda.threadIdx.x)
        while col < now.shape[1]:
            then[row, col] = next_cell(now, row, col)
            col = uint32(col + cuda.blockDim.x)
        row = uint32(row + cuda.gridDim.x)


@cuda.jit
def wait_for_all(now, a, b, steps):
    """Do all steps in one launch: after each, every block waits for all others."""
    grid = cuda.cg.this_grid()
    # Not `now, a, b = a, b, a`, which takes twice the registers, so that fewer blocks fit.
    for step in range(steps):
        if step == 0:
            one_step(now, a)
        elif step % 2 == 1:
            one_step(a, b)
        else:
            one_step(b, a)
        grid.sync()


@cuda.jit
def wait_for_block(now, a, b, steps):
    """Wrong: threads wait for their own block only."""
    for step in range(steps):
        if step == 0:
            one_step(now, a)
        elif step % 2 == 1:
            one_step(a, b)
        else:
            one_step(b, a)
        cuda.syncthreads()


# CuPy launches it so that all blocks are there at once: RawKernel(..., enable_cooperative_groups=True).
cooperative_source = r"""
#include <cooperative_groups.h>

__device__ float next_cell(const float* now, int row, int col, int rows, int cols) {
    const float* cell = now + (size_t)row * cols + col;
    if (row == 0 || row == rows - 1 || col == 0 || col == cols - 1) return *cell;
    return 0.25f * ((cell[-cols] + cell[cols]) + (cell[-1] + cell[1]));
}

extern "C" __global__ void heat(const float* now, float* a, float* b, int steps, int rows, int cols) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int step = 0; step < steps; step++) {
        for (int row = blockIdx.x; row < rows; row += gridDim.x)
            for (int col = threadIdx.x; col < cols; col += blockDim.x)
                a[(size_t)row * cols + col] = next_cell(now, row, col, rows, cols);
        grid.sync();
        float* written = a;
        now = written, a = b, b = written;
    }
}
"""


@njit(parallel=True)
def cpu_threads(now, then):
    """Share the rows out among all threads of the CPU; along a row, the compiler uses SIMD."""
    rows, cols = now.shape
    for row in prange(rows):
        then[row] = now[row]
        if row > 0 and row < rows - 1:
            for col in range(1, cols - 1):
                up_and_down = now[row - 1, col] + now[row + 1, col]
                sides = now[row, col - 1] + now[row, col + 1]
                then[row, col] = np.float32(0.25) * (up_and_down + sides)
