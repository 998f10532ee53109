"""What is timed by each clock: adding one to a vector, and the QR factorisation of a matrix."""

from math import isqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.machine.cpu import cpu_info
from gpuguide.measure import Study, cp, cpu, gpu, kernel, per_element, uniform
from gpuguide.topics.how_to_time import kernels

SIZES = (2**10, 2**13, 2**16, 2**18, 2**20, 2**23, 2**26)


class QrCheck:
    """Q has orthonormal columns, R is upper triangular, and Q R is the matrix, to within rounding."""

    def prepare(self, inputs):
        """Return the matrix."""
        return inputs[0]

    def compare(self, output, prepared):
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


def qr_numpy(a):
    """Factorise with np.linalg.qr on the threads that NumPy's BLAS takes, and stack Q and R."""
    return np.concatenate(np.linalg.qr(a))


def qr_cupy(a):
    """Factorise with cp.linalg.qr, and stack Q and R."""
    return cp.concatenate(cp.linalg.qr(a))


def qr_numpy_variant():
    """Return NumPy's side of a QR factorisation, which runs on as many threads as its BLAS takes."""
    threads = cpu_info().threads
    return cpu(qr_numpy, "NumPy, BLAS on all threads", threads, name="numpy", allocates=True)


def vectors(n, dtype, rng, exact):
    return (np.arange(n, dtype=dtype),) if exact else (uniform(rng, n, dtype),)


def matrix(n, dtype, rng, exact):
    shape = isqrt(n), isqrt(n)
    if exact:
        return (rng.integers(-3, 4, shape).astype(dtype),)
    return (rng.standard_normal(shape, dtype=dtype),)


add_one = Study(
    name="add_one",
    title="Adding one to a vector",
    sizes=SIZES,
    dtype="float64",
    inputs=vectors,
    input_note="uniform random numbers; whole numbers counting up for the exact check",
    reference=lambda x: x + 1,
    traffic=per_element(reads=1, writes=1, flops=1, unit="fp64"),
    variants=(
        kernel(
            kernels.add_one,
            "add_one",
            lambda n: (-(-n // 256), 256),
            note="Add one with a Numba kernel, one element per thread.",
        ),
    ),
)
qr = Study(
    name="qr",
    title="QR factorisation of a square matrix",
    sizes=tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048)),
    size_name="matrix elements",
    dtype="float64",
    inputs=matrix,
    input_note="normally distributed random numbers; whole numbers from -3 to 3 for the exact check",
    output=lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
    check=QrCheck(),
    answer=qr_numpy,
    small=(1, 4, 64, 33**2),
    baseline="numpy",
    variants=(
        qr_numpy_variant(),
        gpu(qr_cupy, "CuPy", name="cupy", allocates=True, batchable=False),
    ),
)
