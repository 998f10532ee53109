"""Counting how often each of 256 values occurs, by atomic additions in global and in shared memory."""

from numba import cuda, int32, uint32

BINS = 256


@cuda.jit
def clear(counts):
    """Set all counts to zero."""
    i = cuda.grid(1)
    if i < counts.size:
        counts[i] = 0


@cuda.jit
def without_atomics(x, counts):
    """Read, add and write, while other threads do the same: counts get lost."""
    i = cuda.grid(1)
    if i < x.size:
        counts[x[i]] += 1


@cuda.jit
def count_global(x, counts):
    """Each thread adds one to a count in global memory, in a step that nobody can interrupt."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit
def count_shared(x, counts):
    """256 threads count into a copy of their block's own, and add it to the result once."""
    mine = cuda.shared.array(BINS, int32)
    b = cuda.threadIdx.x  # there are as many threads as bins
    mine[b] = 0
    cuda.syncthreads()  # no thread counts before all counts are zero
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()  # nor adds up before all have counted
    cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def count_eight(x, counts):
    """Each thread loads eight numbers before it counts the first."""
    mine = cuda.shared.array(BINS, int32)
    b = cuda.threadIdx.x
    mine[b] = 0
    cuda.syncthreads()
    loaded = cuda.local.array(8, uint32)  # in registers, and never negative
    i, step = cuda.grid(1), cuda.gridsize(1)
    while i + 7 * step < x.size:
        for j in range(8):
            loaded[j] = x[i + j * step]
        for j in range(8):
            cuda.atomic.add(mine, loaded[j], 1)
        i += 8 * step
    while i < x.size:  # fewer than eight are left
        cuda.atomic.add(mine, x[i], 1)
        i += step
    cuda.syncthreads()
    cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def count_bytes(words, counts):
    """Each thread loads four words, and counts the four bytes of each."""
    mine = cuda.shared.array(BINS, int32)
    b = cuda.threadIdx.x
    mine[b] = 0
    cuda.syncthreads()
    loaded = cuda.local.array(4, uint32)
    i, step = cuda.grid(1), cuda.gridsize(1)
    while i + 3 * step < words.size:
        for j in range(4):
            loaded[j] = words[i + j * step]
        for j in range(4):
            for shift in range(0, 32, 8):
                cuda.atomic.add(mine, uint32(loaded[j] >> uint32(shift)) & uint32(255), 1)
        i += 4 * step
    while i < words.size:
        for shift in range(0, 32, 8):
            cuda.atomic.add(mine, uint32(words[i] >> uint32(shift)) & uint32(255), 1)
        i += step
    cuda.syncthreads()
    cuda.atomic.add(counts, b, mine[b])


count_source = r"""
extern "C" __global__ void count(const int* x, int* counts, long long n) {
    __shared__ int mine[256];
    if (threadIdx.x < 256) mine[threadIdx.x] = 0;
    __syncthreads();
    const int4* quads = (const int4*)x;  // 16 bytes at a time
    const long long step = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < n / 4; i += 4 * step) {
        int4 v[4];
        for (int k = 0; k < 4; k++) v[k] = quads[i + k * step];
        for (int k = 0; k < 4; k++) {
            atomicAdd(mine + v[k].x, 1); atomicAdd(mine + v[k].y, 1);
            atomicAdd(mine + v[k].z, 1); atomicAdd(mine + v[k].w, 1);
        }
    }
    for (long long j = 4 * i; j < n; j += 4 * step)  // what is left
        for (int k = 0; k < 4 && j + k < n; k++) atomicAdd(mine + x[j + k], 1);
    __syncthreads();
    if (threadIdx.x < 256) atomicAdd(counts + threadIdx.x, mine[threadIdx.x]);
}
"""
