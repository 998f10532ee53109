"""Adding one to a vector: by one thread, one block, a grid of blocks, and a grid that fits any size."""

from numba import cuda, njit, prange


@njit(parallel=True)
def cpu_threads(x):
    """Share the elements out among all threads of the CPU."""
    for i in prange(x.size):
        x[i] += 1


@cuda.jit
def one_thread(x):
    """One thread adds one to all elements."""
    for i in range(x.size):
        x[i] += 1


@cuda.jit
def one_block(x):
    """Share the elements out among the threads of one block."""
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        x[i] += 1


@cuda.jit
def by_hand(x):
    """Each thread adds one to the element whose index it works out from its block."""
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:
        x[i] += 1


@cuda.jit
def grid(x):
    """Each thread adds one to the element with its own index."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def grid_stride(x):
    """Each thread adds one to its element, then to the one a whole grid further on."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] += 1
