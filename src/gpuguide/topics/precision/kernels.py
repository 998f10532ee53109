"""Sums of float32 numbers that keep their digits, one that does not, and work for the arithmetic units."""

from numba import cuda, float32, float64, njit


@njit
def one_after_another(x, out):
    """Add one number after another to a single float32 total."""
    total = float32(0)
    for i in range(x.size):
        total += x[i]
    out[0] = total


@njit
def by_kahan(x, out):
    """Add to a single float32 total, and give back to each addition what the last one lost."""
    total, excess = float32(0), float32(0)
    for i in range(x.size):
        value = x[i] - excess
        new = total + value
        excess = (new - total) - value  # on paper zero: what rounding has added on top
        total = new
    out[0] = total


@njit
def in_one_float64(x, out):
    """Add one number after another to a single float64 total."""
    total = float64(0)
    for i in range(x.size):
        total += x[i]
    out[0] = total


@cuda.jit
def in_float32(x, sums):
    """Each thread adds up numbers in float32, and the block its threads' totals."""
    of_threads = cuda.shared.array(256, float32)
    thread, start = cuda.threadIdx.x, cuda.blockIdx.x * 4096
    total = float32(0)
    while start + 4096 <= x.size:
        for k in range(16):  # unrolled, so that 16 loads are on their way
            total += x[start + thread + 256 * k]
        start += cuda.gridDim.x * 4096
    for i in range(start + thread, min(start + 4096, x.size), 256):
        total += x[i]
    of_threads[thread] = total
    half = 128
    while half > 0:
        cuda.syncthreads()  # the sums of the step before are all there
        if thread < half:
            of_threads[thread] += of_threads[thread + half]
        half //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = of_threads[0]


@cuda.jit
def in_float64(x, sums):
    """Add up in the same way in float64; what is loaded stays float32."""
    of_threads = cuda.shared.array(256, float64)
    thread, start = cuda.threadIdx.x, cuda.blockIdx.x * 4096
    total = float64(0)
    while start + 4096 <= x.size:
        for k in range(16):
            total += x[start + thread + 256 * k]
        start += cuda.gridDim.x * 4096
    for i in range(start + thread, min(start + 4096, x.size), 256):
        total += x[i]
    of_threads[thread] = total
    half = 128
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            of_threads[thread] += of_threads[thread + half]
        half //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = of_threads[0]


@cuda.jit
def add_up(sums, out):
    """One block of 512 threads adds up the sums of all blocks in float64."""
    of_threads = cuda.shared.array(512, float64)
    thread = cuda.threadIdx.x
    total = float64(0)
    for i in range(thread, sums.size, 512):
        total += sums[i]
    of_threads[thread] = total
    half = 256
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            of_threads[thread] += of_threads[thread + half]
        half //= 2
    if thread == 0:
        out[0] = of_threads[0]


@cuda.jit
def thousand_steps(x, out):
    """Each thread makes 1024 products and sums, in the type of the array."""
    i = cuda.grid(1)
    if i < x.size:
        c = x[i]
        y = c
        for _ in range(32):
            for _ in range(32):
                y = y * y + c
        out[i] = y
