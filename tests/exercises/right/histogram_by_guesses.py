"""Reads the count anew before each attempt to swap it, in shared memory and then in the result."""

from numba import cuda, int32


@cuda.jit(device=True)
def add(array, at, amount):
    while True:
        guess = array[at]
        if cuda.atomic.cas(array, at, guess, guess + amount) == guess:
            return


@cuda.jit
def histogram_kernel(values, counts):
    own = cuda.shared.array(40, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:
            add(own, value, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        add(counts, b, own[b])
