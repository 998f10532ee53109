"""Prints how many seconds a kernel takes, at best; ``debug`` as an argument compiles it with debug=True."""

import sys
from time import perf_counter

import cupy as cp
from numba import cuda, float32


def neighbours(x, out):
    """Each thread adds up 33 numbers that its block has in shared memory."""
    near = cuda.shared.array(288, float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256 - 16
    for k in range(t, 288, 256):
        j = first + k
        near[k] = x[j] if 0 <= j < x.size else float32(0)
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(33):
            total += near[t + k]
        out[i] = total


def main():
    """Launch it some times, and take the shortest, as other processes may use the GPU."""
    debug = "debug" in sys.argv
    kernel = cuda.jit(debug=True, opt=False)(neighbours) if debug else cuda.jit(neighbours)
    n = 2**22
    x = cp.ones(n, cp.float32)
    out = cp.zeros_like(x)
    taken = []
    for _ in range(3):
        cp.cuda.Device().synchronize()
        start = perf_counter()
        kernel[n // 256, 256](x, out)
        cp.cuda.Device().synchronize()
        taken.append(perf_counter() - start)
    assert float(out[1000]) == 33
    print("seconds:", min(taken))


if __name__ == "__main__":
    main()
