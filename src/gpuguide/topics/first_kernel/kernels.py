"""Four kernels that add one: by hand, by cuda.grid, in a grid-stride loop, four elements per thread.

Beside them a loop for all threads of the CPU.
"""

from numba import cuda, njit, prange


@njit(parallel=True)
def increment_threads(x):
    """Share the elements out among all threads of the CPU."""
    for i in prange(x.size):
        x[i] += 1.0


@cuda.jit
def increment_by_hand_kernel(x):
    """Each thread adds one to the element whose index it works out from its block."""
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:  # the last block is seldom full
        x[i] += 1.0


@cuda.jit
def increment_grid_kernel(x):
    """Each thread adds one to the element that has the thread's own index."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1.0


@cuda.jit
def increment_grid_stride_kernel(x):
    """Each thread walks through the vector in steps of the whole grid."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] += 1.0


@cuda.jit
def increment_four_per_thread_kernel(x):
    """Each thread loads four elements, a block's width apart, before it stores one."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    if i + 3 * width < x.size:
        # Neighbouring threads touch neighbours, and four loads are on their way at once.
        first, second, third, fourth = x[i], x[i + width], x[i + 2 * width], x[i + 3 * width]
        x[i] = first + 1.0
        x[i + width] = second + 1.0
        x[i + 2 * width] = third + 1.0
        x[i + 3 * width] = fourth + 1.0
    else:
        while i < x.size:
            x[i] += 1.0
            i += width
