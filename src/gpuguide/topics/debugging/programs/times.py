"""Prints how many seconds a kernel takes; ``debug`` as an argument compiles it with debug=True."""

import fcntl
import os
import sys

import cupy as cp
import numpy as np
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


def seconds(kernel, x, out, n_launches, ahead=()):
    """Return how long a launch takes, of so many; arrays to clear ahead keep the GPU busy meanwhile."""
    start, end = cp.cuda.Event(), cp.cuda.Event()
    for array in ahead:
        array.data.memset_async(0, array.nbytes)
    start.record()
    for _ in range(n_launches):
        kernel[x.size // 256, 256](x, out)
    end.record()
    end.synchronize()
    return cp.cuda.get_elapsed_time(start, end) / 1e3 / n_launches


def main():
    """Compile, wait for a turn with the GPU, and print the time of a launch."""
    kernel = cuda.jit(debug=True, opt=False) if "debug" in sys.argv else cuda.jit
    kernel = kernel(neighbours)
    x = cuda.as_cuda_array(cp.asarray(np.ones(2**22, np.float32)))
    out = cuda.as_cuda_array(cp.zeros(x.size, np.float32))
    kernel[1, 256](x, out)
    cuda.synchronize()
    with open(os.environ["TURN"], "rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        once = seconds(kernel, x, out, 1)
        # Python launches ten kernels while the GPU clears 16 GiB; under a tool, each launch waits anyhow.
        ahead = [cp.empty(2**30, np.uint8)] * 16 if once < 5e-4 else []
        # Under racecheck, once is enough.
        best = once if once > 0.1 else min(seconds(kernel, x, out, 10, ahead) for _ in range(5))
    assert out.copy_to_host()[1000] == 33
    print("seconds:", best)


if __name__ == "__main__":
    main()
