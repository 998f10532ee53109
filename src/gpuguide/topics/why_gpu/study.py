"""One formula for very many numbers: in Python, in NumPy, on all threads of the CPU, and on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.why_gpu.kernels import (
    COEFFICIENTS,
    DEGREE,
    polynomial_kernel,
    polynomial_threads,
)

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
THREADS_PER_BLOCK = 256
THREADS = int(get_num_threads())
# With more, the powers leave the CPU's cache; with less, the threads wait for Python.
_PART = 1 << 17


def polynomial_reference(x: np.ndarray) -> np.ndarray:
    """Add up coefficient times power, one power after the other.

    >>> polynomial_reference(np.array([0.0, 1.0, 2.0])).tolist()
    [5.0, 9.0, 165.0]
    """
    out = np.zeros(x.size)

    def one(start: int) -> None:
        part = slice(start, start + _PART)
        power = np.ones(out[part].size)
        for coefficient in COEFFICIENTS[::-1].astype(np.float64):
            out[part] += coefficient * power
            power *= x[part]

    in_threads(one, range(0, x.size, _PART), out.nbytes)
    return out


def polynomial_python(x: np.ndarray, out: np.ndarray) -> None:
    """Work through the numbers in a Python loop."""
    coefficients = COEFFICIENTS.tolist()
    for i, value in enumerate(x.tolist()):
        total = 0.0
        for coefficient in coefficients:
            total = total * value + coefficient
        out[i] = total


def polynomial_numpy(x: np.ndarray, out: np.ndarray) -> None:
    """Call np.polyval: on one thread, two compiled loops for each coefficient."""
    out[:] = np.polyval(COEFFICIENTS, x)


def polynomial_gpu(x: Any, out: Any) -> None:
    """Launch one thread for each number; input and output are in the memory of the GPU."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        polynomial_kernel[blocks_per_grid, THREADS_PER_BLOCK](x, out)


def polynomial_gpu_with_copies(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Copy the numbers to the GPU, launch there, and copy the results back."""
    out_device = cupy().empty(x_host.shape, np.float32)
    polynomial_gpu(cupy().asarray(x_host), out_device)
    out_device.get(out=out_host)


def polynomial_gpu_pinned(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    x_device, out_device = (cupy().empty(x_host.shape, np.float32) for _ in range(2))
    # asarray would first copy it into pinned memory of CuPy's own.
    stream = cupy().cuda.get_current_stream()
    x_device.set(x_host, stream=stream)
    polynomial_gpu(x_device, out_device)
    out_device.get(out=out_host)


polynomial_traffic = streaming_traffic(reads=1, writes=1, flops=2 * DEGREE)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison: three ways on the CPU, three with the GPU, all by the clock on the wall."""
    return Study(
        name="polynomial",
        title="A polynomial of degree 7 for many numbers",
        variants=(
            cpu_variant("python", polynomial_python, "Python", 1, traffic=polynomial_traffic),
            cpu_variant(
                "numpy", polynomial_numpy, "NumPy, one thread", 1, traffic=polynomial_traffic
            ),
            cpu_variant(
                "threads",
                polynomial_threads,
                "CPU, all threads",
                THREADS,
                traffic=polynomial_traffic,
            ),
            kernel_variant(
                "gpu", polynomial_gpu, "GPU", clock="end_to_end", traffic=polynomial_traffic
            ),
            end_to_end_variant(
                "with_copies", polynomial_gpu_with_copies, "GPU, pageable copies"
            ),
            end_to_end_variant(
                "with_copies_pinned",
                polynomial_gpu_pinned,
                "GPU, pinned copies",
                arrays="pinned",
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=polynomial_reference,
        # Each degree rounds twice: after a product and after a sum.
        tolerance=Tolerance(c=2, serial=2 * DEGREE, scale=sum_of_coefficients),
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def sum_of_coefficients(x: np.ndarray) -> float:
    """Return a bound of the polynomial's terms, added up without signs, for numbers from 0 to 1."""
    return float(np.abs(COEFFICIENTS).sum())


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 4, dtype, low=-3) if exact else uniform(rng, n, dtype),)
