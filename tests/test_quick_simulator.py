"""The quick simulator gives what Numba's own gives, and does not start a thread for every CUDA thread."""

from collections.abc import Callable

KERNELS = """
import threading

import numpy as np
from numba import cuda, float32

@cuda.jit
def note_place(out, started):
    row, col = cuda.grid(2)
    started[row, col] = int(threading.current_thread().name.split("-")[1].split()[0])
    out[row, col] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.blockIdx.x + 1000 * cuda.laneid

@cuda.jit
def reverse(x, last):
    shared, turned = cuda.shared.array(0, float32), cuda.local.array(1, float32)
    i = cuda.threadIdx.x
    if i > last:
        return  # the others wait without it
    shared[i] = x[i]
    cuda.syncthreads()
    turned[0] = shared[last - i]
    cuda.syncthreads()
    x[i] = turned[0]

@cuda.jit
def sums(x, out):
    shared = cuda.shared.array(8, float32)
    i = cuda.threadIdx.x
    shared[i] = x[cuda.grid(1)]
    step = 4
    while step:
        cuda.syncthreads()
        if i < step:
            shared[i] += shared[i + step]
        step //= 2
    odd = cuda.syncthreads_count(i % 3)
    if cuda.syncthreads_and(i < 8) and cuda.syncthreads_or(i == 7) and i == 0:
        cuda.atomic.add(out, 0, shared[0])
        cuda.atomic.add(out, 1, odd)

@cuda.jit
def fail(x, waits):
    i = cuda.grid(1)
    if waits or i != 5:
        cuda.syncthreads()
    if i == 5:
        raise ValueError("no five") if waits else IndexError

places, started = np.zeros((4, 6)), np.zeros((4, 6), np.int64)
note_place[(2, 3), (2, 2)](places, started)
print(places.tolist())
turned = np.arange(7, dtype=np.float32)
reverse[1, 7, 0, 40](turned, 4)
print(turned.tolist())
out = np.zeros(2, np.float32)
sums[3, 8](np.arange(24, dtype=np.float32), out)
print(out.tolist())
for waits in (True, False):
    try:
        fail[2, 4](np.zeros(8), waits)
    except Exception as error:
        print(type(error).__name__, error)
"""
THREADS = KERNELS + "print(len(set(started[:2, :2].flat)), threading.active_count())\n"


def test_it_gives_what_numbas_gives(simulator_python: Callable[..., str]) -> None:
    """Places, shared and local memory, barriers with threads gone before, reductions, atomics and errors."""
    quick, numbas = (simulator_python(KERNELS, quick=quick).splitlines() for quick in (True, False))
    assert numbas[1] == "[4.0, 3.0, 2.0, 1.0, 0.0, 5.0, 6.0]"
    assert numbas[2] == "[276.0, 15.0]"
    assert numbas[3:5] == [
        "ValueError tid=[1, 0, 0] ctaid=[1, 0, 0]: no five",
        "IndexError tid=[1, 0, 0] ctaid=[1, 0, 0]",
    ]
    assert quick == numbas


def test_threads_that_never_wait_share_one(simulator_python: Callable[..., str]) -> None:
    """And none is left behind, after errors either."""
    assert simulator_python(THREADS).splitlines()[-1] == "1 1"
    assert simulator_python(THREADS, quick=False).splitlines()[-1].startswith("4 ")
