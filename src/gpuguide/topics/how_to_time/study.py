"""Operations to hold clocks against: adding one to a vector, and the QR factorisation of a matrix."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import array_module, cupy, current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.how_to_time.kernels import add_one_kernel

THREADS_PER_BLOCK = 256
SIZES = (2**7, 2**10, 2**13, 2**16, 2**19, 2**22, 2**26)
QR_SIZES = tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048))


def add_one_reference(x: np.ndarray) -> np.ndarray:
    """Return ``x + 1``.

    Parameters
    ----------
    x : ndarray of float64, shape (n,)
        Any values.

    Returns
    -------
    ndarray of float64, shape (n,)
        A new array.

    Examples
    --------
    >>> add_one_reference(np.array([1.0])).tolist()
    [2.0]
    """
    return x + 1


def add_one_numpy(x: np.ndarray, out: np.ndarray) -> None:
    """Add one with np.add on one thread, into an array that exists already.

    Parameters
    ----------
    x, out : ndarray of float64, shape (n,)
        Input and output.

    Examples
    --------
    >>> out = np.empty(1)
    >>> add_one_numpy(np.array([1.0]), out)
    >>> out.tolist()
    [2.0]
    """
    np.add(x, 1, out=out)


def add_one(x: Any, out: Any) -> None:
    """Add one with a Numba kernel, one element a thread.

    Parameters
    ----------
    x, out : device array of float64, shape (n,)
        Input and output.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float64 of one length.

    Examples
    --------
    >>> try:
    ...     add_one(np.ones(3), np.ones(4))
    ... except ValueError as error:
    ...     print(error)
    add_one takes two float64 vectors of one length; got (3,) float64 and (4,) float64.
    """
    if x.ndim != 1 or x.shape != out.shape or x.dtype != np.float64 or out.dtype != np.float64:
        raise ArgumentError(
            "add_one takes two float64 vectors of one length; "
            f"got {x.shape} {x.dtype} and {out.shape} {out.dtype}."
        )
    if x.size:
        blocks_per_grid = blocks_1d(int(x.size), THREADS_PER_BLOCK)
        add_one_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(x), numba_view(out)
        )


def add_one_with_copies(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Copy to the GPU, add one there, and copy back.

    Parameters
    ----------
    x_host, out_host : ndarray of float64, shape (n,)
        In host memory; the second is filled.
    """
    x_device = cupy().asarray(x_host)
    add_one(x_device, x_device)
    x_device.get(out=out_host)


def add_one_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: each element is read once and written once.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written, additions.

    Examples
    --------
    >>> add_one_traffic(65_536, "float64").bytes_total
    1048576
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * itemsize, bytes_written=n * itemsize, flops=n, unit="fp64")


class QrCheck:
    """Q has orthonormal columns, R is upper triangular, and Q R is the matrix, to within rounding.

    Examples
    --------
    >>> check = QrCheck()
    >>> a = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> largest, tolerance = check.compare(qr_numpy(a), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the matrix.

        Parameters
        ----------
        inputs : tuple of one array, shape (m, m)
            What was factorised.

        Returns
        -------
        array, shape (m, m)
            The same.
        """
        return inputs[0]

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Check the three properties.

        Parameters
        ----------
        output : array, shape (2 * m, m)
            Q above R.
        prepared : array, shape (m, m)
            The matrix.

        Returns
        -------
        (float, float)
            Largest of the differences, each relative to its scale, and ``4 * m * eps``.

        Raises
        ------
        MismatchError
            One of the properties does not hold.
        """
        xp = array_module(output)
        m = prepared.shape[0]
        q, r = output[:m], output[m:]
        tolerance = 4.0 * m * float(np.finfo(prepared.dtype).eps)
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

    Parameters
    ----------
    a : ndarray of float64, shape (m, m)
        The matrix.

    Returns
    -------
    ndarray of float64, shape (2 * m, m)
        Q above R.

    Examples
    --------
    >>> qr_numpy(np.eye(2)).shape
    (4, 2)
    """
    return np.concatenate(np.linalg.qr(a))


def qr_cupy(a: Any) -> Any:
    """Factorise with cp.linalg.qr, and stack Q and R.

    Parameters
    ----------
    a : cupy.ndarray of float64, shape (m, m)
        The matrix.

    Returns
    -------
    cupy.ndarray of float64, shape (2 * m, m)
        Q above R.
    """
    return cupy().concatenate(cupy().linalg.qr(a))


def study() -> Study:
    """Describe the timing of adding one to a vector, on the host and on the GPU.

    Returns
    -------
    Study
        Three variants from 2**7 to 2**26 float64, 65 536 among them.

    Examples
    --------
    >>> 65_536 in study().sizes
    True
    """
    return Study(
        name="add_one",
        title="Adding one to a vector",
        variants=(
            Variant(
                "numpy", add_one_numpy, label="NumPy", device="cpu", clock="host", threads=1
            ),
            Variant(
                "numba", add_one, label="Numba kernel", arrays="numba", traffic=add_one_traffic
            ),
            Variant(
                "with_copies",
                add_one_with_copies,
                label="with copies",
                clock="end_to_end",
                simulatable=False,
            ),
        ),
        sizes=SIZES,
        inputs=_vectors,
        reference=add_one_reference,
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="numpy",
    )


def qr_study() -> Study:
    """Describe the comparison of NumPy's and CuPy's QR factorisation.

    Returns
    -------
    Study
        Two variants from 64 x 64 to 2048 x 2048 float64, 512 x 512 among them.

    Examples
    --------
    >>> 512**2 in qr_study().sizes
    True
    """
    return Study(
        name="qr",
        title="QR factorisation of a square matrix",
        variants=(
            Variant(
                "numpy", qr_numpy, label="NumPy", device="cpu", clock="host", allocates=True
            ),
            Variant(
                "cupy",
                qr_cupy,
                label="CuPy",
                allocates=True,
                batchable=False,
                simulatable=False,
            ),
        ),
        sizes=QR_SIZES,
        inputs=_matrix,
        check=QrCheck(),
        output=lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
        dtype="float64",
        size_name="matrix elements",
        input_note="normally distributed random numbers; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
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
