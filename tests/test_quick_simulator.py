"""The quick simulator gives what Numba's own gives, and starts no thread for a CUDA thread."""

from collections.abc import Callable
from pathlib import Path

import pytest

KERNELS = """
import threading

import numpy as np
from numba import cuda, float32

@cuda.jit
def note_place(out, started):
    row, col = cuda.grid(2)
    started[row, col] = int("0" + "".join(filter(str.isdigit, threading.current_thread().name)))
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

def rotating(step):
    @cuda.jit
    def rotate(x):
        shared = cuda.shared.array(8, float32)
        shared[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = shared[(cuda.threadIdx.x + step) % x.size]

    return rotate

@cuda.jit
def rows(x, out):
    row = x[cuda.threadIdx.x]
    row[0] += row.shape[0] + x.size + len(row)
    out[cuda.threadIdx.x] = row[-1] / row[1]  # warns where it divides by zero

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
for step in (1, 3):
    turned = np.arange(8, dtype=np.float32)
    rotating(step)[1, 8](turned)
    print(turned.tolist())
numbers, out = np.arange(6.0).reshape(2, 3), np.zeros(2)
rows[1, 2](numbers, out)
print(numbers.tolist(), out.tolist())
numbers[1, 1] = 0
for quiet in ({}, {"divide": "ignore"}):  # what the launcher has set is its own
    try:
        with np.errstate(**quiet):
            rows[1, 2](numbers, out)
    except Exception as error:
        print(type(error).__name__, error)
for waits in (True, False):
    try:
        fail[2, 4](np.zeros(8), waits)
    except Exception as error:
        print(type(error).__name__, error)
"""
HIDDEN = """
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def wait():
    cuda.syncthreads()

@cuda.jit
def hides(x):
    wait()
    x[0] = 1

try:
    hides[1, 2](x := np.zeros(1))
    print(x[0])
except Exception as error:
    print(type(error).__name__, error)
"""
THREADS = "print(len(set(started[:2, :2].flat)), threading.active_count())"


@pytest.fixture
def python(simulator_python: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """Run the kernels, then a line; from a file, for without their source they run in Numba's threads."""
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    snippet = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from kernels import *; import threading; "
    return lambda line, **options: simulator_python(snippet + line, **options)


def test_it_gives_what_numbas_gives(python: Callable[..., str], simulator_python: Callable[..., str]) -> None:
    """Places, shared and local memory, barriers with threads gone before, reductions, atomics and errors."""
    quick, numbas = (python("", quick=quick).splitlines() for quick in (True, False))
    without_source = simulator_python(KERNELS).splitlines()
    assert numbas[1] == "[4.0, 3.0, 2.0, 1.0, 0.0, 5.0, 6.0]"
    assert numbas[2] == "[276.0, 15.0]"
    assert numbas[-2:] == [
        "ValueError tid=[1, 0, 0] ctaid=[1, 0, 0]: no five",
        "IndexError tid=[1, 0, 0] ctaid=[1, 0, 0]",
    ]
    assert quick == without_source == numbas


def test_it_starts_no_thread(python: Callable[..., str]) -> None:
    assert python(THREADS).splitlines()[-1] == "1 1"
    assert python(THREADS, quick=False).splitlines()[-1].startswith("4 ")


def test_a_barrier_that_it_cannot_see_is_refused(simulator_python: Callable[..., str]) -> None:
    printed = simulator_python(HIDDEN)
    assert printed.startswith("NotImplementedError tid=[0, 0, 0] ctaid=[0, 0, 0]: a barrier in a function")
    assert simulator_python(HIDDEN, quick=False) == "1.0\n"
