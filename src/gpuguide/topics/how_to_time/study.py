"""What is timed by each clock: adding one to a vector, and the QR factorisation of a matrix."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy
from gpuguide.machine.cpu import cpu_info
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    Variant,
    cpu_variant,
    cupy_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.how_to_time.kernels import add_one, nothing

THREADS_PER_BLOCK = 256
SIZES = (2**10, 2**13, 2**16, 2**18, 2**20, 2**23, 2**26)
QR_SIZES = tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048))


def add_one_reference(x: np.ndarray) -> np.ndarray:
    """Return ``x + 1``.

    >>> add_one_reference(np.array([1.0])).tolist()
    [2.0]
    """
    return x + 1


def launch_add_one(x: Any, out: Any) -> None:
    """Add one with a Numba kernel, one element per thread."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float64")
    if n:
        add_one[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, out)


def launch_nothing(x: Any, out: Any) -> None:
    """Launch the empty kernel on the same grid, with the same arguments."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float64")
    if n:
        nothing[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, out)


add_one_traffic = streaming_traffic(reads=1, writes=1, flops=1, unit="fp64")


class QrCheck:
    """Q has orthonormal columns, R is upper triangular, and Q R is the matrix, to within rounding.

    >>> check = QrCheck()
    >>> a = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> largest, tolerance = check.compare(qr_numpy(a), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the matrix."""
        return inputs[0]

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Check the three properties."""
        xp = array_module(output)
        m = prepared.shape[0]
        q, r = output[:m], output[m:]
        tolerance = 4.0 * m * float(np.finfo(prepared.dtype).eps)
        # A matrix of zeros has nothing to divide by.
        scale = float(xp.abs(prepared).max()) or 1.0
        differences = {
            "Q has no orthonormal columns": xp.abs(q.T @ q - xp.eye(m)),
            "R is not upper triangular": xp.abs(xp.tril(r, -1)) / scale,
            "Q R is not the matrix": xp.abs(q @ r - prepared) / scale,
        }
        largest = {problem: float(values.max()) for problem, values in differences.items()}
        for problem, difference in largest.items():
            if not difference <= tolerance:
                raise MismatchError(
                    f"{problem}: off by {difference:.3g}, tolerance {tolerance:.3g}."
                )
        return max(largest.values()), tolerance


def qr_numpy(a: np.ndarray) -> np.ndarray:
    """Factorise with np.linalg.qr on the threads that NumPy's BLAS takes, and stack Q and R.

    >>> qr_numpy(np.eye(2)).shape
    (4, 2)
    """
    return np.concatenate(np.linalg.qr(a))


def qr_cupy(a: Any) -> Any:
    """Factorise with cp.linalg.qr, and stack Q and R."""
    return cupy().concatenate(cupy().linalg.qr(a))


def study(kernels: Kernels = None) -> Study:
    """Describe the timing of adding one to a vector on the GPU."""
    return Study(
        name="add_one",
        title="Adding one to a vector",
        variants=(
            kernel_variant("add_one", launch_add_one, "add_one", traffic=add_one_traffic),
        ),
        sizes=SIZES,
        inputs=_vectors,
        reference=add_one_reference,
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        kernels=kernels,
    )


def qr_numpy_variant() -> Variant:
    """Return NumPy's side of a QR factorisation, which runs on as many threads as its BLAS takes."""
    label = "NumPy, BLAS on all threads"
    return cpu_variant("numpy", qr_numpy, label, cpu_info().threads, allocates=True)


def qr_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's and CuPy's QR factorisation."""
    return Study(
        name="qr",
        title="QR factorisation of a square matrix",
        variants=(
            qr_numpy_variant(),
            cupy_variant("cupy", qr_cupy, "CuPy", allocates=True, batchable=False),
        ),
        sizes=QR_SIZES,
        inputs=_matrix,
        check=QrCheck(),
        output=lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
        dtype="float64",
        size_name="matrix elements",
        input_note="normally distributed random numbers; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def _vectors(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (np.arange(n, dtype=dtype),) if exact else (uniform(rng, n, dtype),)


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = isqrt(n)
    if exact:
        return (rng.integers(-3, 4, (rows, rows)).astype(dtype),)
    return (rng.standard_normal((rows, rows), dtype=dtype),)
