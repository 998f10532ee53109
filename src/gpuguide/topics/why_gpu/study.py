"""One formula for very many numbers: NumPy, CuPy, all threads of the CPU, the GPU, and copies to it."""

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
    Variant,
    cpu_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.why_gpu.kernels import COEFFICIENTS, cpu_threads, gpu_threads

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
THREADS_PER_BLOCK = 256
THREADS = int(get_num_threads())
DEGREE = COEFFICIENTS.size - 1
# With more, the powers leave the CPU's cache; with less, the threads wait for Python.
_PART = 1 << 17
NUMPY_MAX_SIZE = 10**7


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


def polynomial(x: Any) -> Any:
    """Work out the formula as one writes it; each operator makes an array."""
    return ((((((2 * x - 3) * x + 1) * x + 4) * x - 1) * x + 3) * x - 2) * x + 5


def polynomial_out(x: np.ndarray, out: np.ndarray) -> None:
    """Do the same steps in an array that is there already."""
    np.multiply(x, 2, out=out)
    for coefficient in (-3, 1, 4, -1, 3, -2):
        np.add(out, coefficient, out=out)
        np.multiply(out, x, out=out)
    np.add(out, 5, out=out)


def polynomial_cupy(x: Any) -> Any:
    """Hand the formula as one writes it an array of CuPy's."""
    n = launch.check(x=x, ndim=1, dtype="float32")
    return polynomial(cupy().asarray(x)) if n else x


def polynomial_gpu(x: Any, out: Any) -> None:
    """Launch one thread for each number; input and output are in the memory of the GPU."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    if n:
        gpu_threads[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, out)


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
    """Describe the comparison by the clock on the wall, and one kernel by the GPU's own clock beside it."""
    moved: dict[str, Any] = {"traffic": polynomial_traffic}
    in_numpy: dict[str, Any] = {
        "max_size": NUMPY_MAX_SIZE,
        "max_size_reason": "left out above 10^7 numbers to keep the run short",
    }
    return Study(
        name="polynomial",
        title="A polynomial of degree 7 for many numbers",
        variants=(
            cpu_variant(
                "numpy", polynomial, "NumPy, one thread", 1, allocates=True, **in_numpy
            ),
            cpu_variant("numpy_out", polynomial_out, "NumPy with out=", 1, **in_numpy),
            cpu_variant("cpu_threads", cpu_threads, "CPU, all threads", THREADS, **moved),
            Variant(
                "cupy",
                polynomial_cupy,
                "CuPy",
                clock="end_to_end",
                arrays="numba",
                allocates=True,
                simulatable=False,
            ),
            kernel_variant("gpu_threads", polynomial_gpu, "GPU", clock="end_to_end", **moved),
            kernel_variant("kernel_alone", polynomial_gpu, "GPU, kernel alone", **moved),
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
        size_name="numbers",
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
