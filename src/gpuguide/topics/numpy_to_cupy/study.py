"""One program for NumPy and CuPy, a convolution in one dimension, and a loop over the rows of a table."""

from __future__ import annotations

from math import isqrt, log2
from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu, is_device_array
from gpuguide.machine.cpu import in_threads, thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.numpy_to_cupy.functions import at_once, in_cells, row_by_row
from gpuguide.topics.numpy_to_cupy.kernels_cpu import cpu_threads

SIZES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)
ALONE = SIZES[0]  # where the text asks what the GPU itself does
SIGNAL_SIZES = (2048**2,)
N_WEIGHTS = 15 * 15
THREADS = int(get_num_threads())
# With less, the threads wait for Python; with more, some of them have nothing to do.
_PART = 1 << 16
# On the GPU: the arrays, what checks them, and what each step of the program makes.
_BYTES_A_POINT = 200
# What a call gets is on the GPU already, and its time ends when the result is there.
ON_THE_GPU: dict[str, Any] = {
    "clock": "end_to_end",
    "arrays": "numba",
    "allocates": True,
    "simulatable": False,
}


def in_cells_reference(x: np.ndarray, y: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Divide by the area that the cell's two edges span.

    >>> in_cells_reference(np.array([3.0]), np.array([4.0]), np.array([[2.0, 1.0], [0.0, 2.0]])).tolist()
    [6.25]
    """
    (a, b), (c, d) = cell.tolist()
    cells: np.ndarray = (x**2 + y**2) / (a * d - b * c)
    return cells


def in_cells_cupy(x: Any, y: Any, cell: Any) -> Any:
    """Hand the same function arrays of CuPy's."""
    if not check_points(x, y, cell):
        return x
    return in_cells(*map(cupy().asarray, (x, y, cell)))


def in_cells_with_copies(
    x: np.ndarray, y: np.ndarray, cell: np.ndarray, out: np.ndarray
) -> None:
    """Copy the points to the GPU, call the same function, and copy the result back."""
    if check_points(x, y, cell):
        in_cells(*map(cupy().asarray, (x, y, cell))).get(out=out)


def in_cells_pinned(x: np.ndarray, y: np.ndarray, cell: np.ndarray, out: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    if check_points(x, y, cell):
        in_cells(*map(from_pinned, (x, y, cell))).get(out=out)


def convolve_reference(signal: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Add up the signal once for each weight, shifted by its place.

    >>> convolve_reference(np.array([1.0, 2.0]), np.array([1.0, 10.0])).tolist()
    [1.0, 12.0, 20.0]
    """
    n, k = signal.size, weights.size
    if not n:
        return np.zeros(0)
    padded = np.concatenate([np.zeros(k - 1), signal, np.zeros(k - 1)])
    out = np.zeros(n + k - 1)

    def one(start: int) -> None:
        part = out[start : start + _PART]
        for j in range(k):
            part += weights[k - 1 - j] * padded[start + j : start + j + part.size]

    in_threads(one, range(0, out.size, _PART), out.nbytes)  # pieces stay in a cache
    return out


# The last one: the same inputs come once for the host and once for the GPU.
_last: dict[bytes, np.ndarray] = {}


def _convolved(signal: np.ndarray, weights: np.ndarray) -> np.ndarray:
    key = signal.tobytes() + weights.tobytes()
    if key not in _last:
        _last.clear()
        _last[key] = convolve_reference(signal, weights)
    return _last[key]


class ConvolutionCheck:
    """Each number is the sum of its products, to within 8 eps log2(n) times both norms, as of an FFT.

    >>> check = ConvolutionCheck()
    >>> inputs = np.array([1.0, 2.0]), np.array([1.0, 10.0])
    >>> largest, tolerance = check.compare(np.convolve(*inputs), check.prepare(inputs))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, float]:
        """Return the convolution, and how far a result may be from it; on the host, for every memory."""
        signal, weights = map(_on_host, inputs)
        size = float((signal**2).sum()) ** 0.5 * float((weights**2).sum()) ** 0.5
        rounding = 8 * float(np.finfo(np.float64).eps) * log2(signal.size + weights.size)
        return _convolved(signal, weights), rounding * size

    def compare(self, output: Any, prepared: tuple[Any, float]) -> tuple[float, float]:
        """Return the largest difference."""
        expected, tolerance = prepared
        if output.shape != expected.shape:
            raise MismatchError(
                f"The convolution should have shape {expected.shape}; it has {output.shape}."
            )
        off = abs(_on_host(output) - expected)
        return float(off.max()) if off.size else 0.0, tolerance


def convolve_numpy(signal: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Call np.convolve, which NumPy runs on one thread."""
    return np.convolve(signal, weights) if signal.size else signal


def convolve_threads(signal: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Call np.convolve for parts of the signal that overlap, on all threads."""
    if not signal.size:
        return signal
    padded = np.pad(signal, weights.size - 1)
    out = np.empty(signal.size + weights.size - 1)

    def one(start: int) -> None:
        part = out[start : start + _PART]
        part[:] = np.convolve(
            padded[start : start + part.size + weights.size - 1], weights, "valid"
        )

    list(thread_pool().map(one, range(0, out.size, _PART)))
    return out


def convolve_cupy(signal: Any, weights: Any) -> Any:
    """Hand np.convolve arrays of CuPy's."""
    if not check_signal(signal, weights):
        return signal
    return np.convolve(*map(cupy().asarray, (signal, weights)))  # CuPy's, by __array_function__


def rows_reference(table: np.ndarray) -> np.ndarray:
    """Divide by the root of the sum of squares.

    >>> rows_reference(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    rows: np.ndarray = table / np.sqrt((table**2).sum(axis=1))[:, None]
    return rows


def size_of_rows(table: np.ndarray) -> np.ndarray:
    """Return the sizes that the numbers should have."""
    sizes: np.ndarray = np.abs(rows_reference(table))
    return sizes


def rows_cupy_loop(table: Any) -> Any:
    """Hand the loop over the rows an array of CuPy's."""
    return row_by_row(cupy().asarray(table)) if check_table(table) else table


def rows_cupy(table: Any) -> Any:
    """Hand the one call for all rows an array of CuPy's."""
    return at_once(cupy().asarray(table)) if check_table(table) else table


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of one program on NumPy's arrays and on CuPy's, with copies and without."""
    return Study(
        name="cells",
        title="A program of four functions of NumPy's",
        variants=(
            cpu_variant("numpy", in_cells, "NumPy, one thread", allocates=True),
            cpu_variant("cpu_threads", cpu_threads, "Numba, all CPU threads", THREADS),
            Variant("cupy", in_cells_cupy, "CuPy", **ON_THE_GPU),
            cupy_variant(
                "gpu_alone",
                in_cells,
                "CuPy, work on the GPU alone",
                allocates=True,
                max_size=ALONE,
                max_size_reason=f"timed at {ALONE} points only",
            ),
            end_to_end_variant("with_copies", in_cells_with_copies, "CuPy, pageable copies"),
            end_to_end_variant(
                "with_copies_pinned", in_cells_pinned, "CuPy, pinned copies", arrays="pinned"
            ),
        ),
        sizes=tuple(size for size in SIZES if size <= most_points()),
        inputs=_points_and_cell,
        reference=in_cells_reference,
        tolerance=Tolerance(c=4, serial=4),
        dtype="float64",
        size_name="points",
        input_note="uniform random numbers from 0 to 1; for the exact check 3, 4, 5 and multiples",
        baseline="numpy",
        kernels=kernels,
    )


def most_points() -> int:
    """Return the largest of the sizes for which the GPU has memory."""
    if not has_gpu():
        return SIZES[-1]
    free = int(cupy().cuda.Device().mem_info[0])
    return max((size for size in SIZES if _BYTES_A_POINT * size <= free), default=SIZES[0])


def convolve_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's convolution with CuPy's."""
    return Study(
        name="convolve",
        title=f"A signal convolved with {N_WEIGHTS} weights",
        variants=(
            cpu_variant("numpy", convolve_numpy, "NumPy, one thread", allocates=True),
            cpu_variant(
                "numpy_threads",
                convolve_threads,
                "NumPy, all threads",
                THREADS,
                allocates=True,
            ),
            Variant("cupy", convolve_cupy, "CuPy", **ON_THE_GPU),
        ),
        sizes=SIGNAL_SIZES,
        inputs=_signal_and_weights,
        check=ConvolutionCheck(),
        output=lambda n, dtype: (n + N_WEIGHTS - 1 if n else 0, dtype),
        dtype="float64",
        size_name="samples",
        input_note=f"random numbers from 0 to 1, and {N_WEIGHTS} such weights; digits for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def rows_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a loop over rows with one call for all of them."""
    return Study(
        name="rows",
        title="A table whose rows get the length one",
        variants=(
            cpu_variant(
                "numpy_loop", row_by_row, "NumPy, one thread, row by row", allocates=True
            ),
            cpu_variant("numpy_once", at_once, "NumPy, one thread, at once", allocates=True),
            Variant("cupy_loop", rows_cupy_loop, "CuPy, row by row", **ON_THE_GPU),
            Variant("cupy_once", rows_cupy, "CuPy, at once", **ON_THE_GPU),
        ),
        sizes=(1024**2,),
        inputs=_square_table,
        reference=rows_reference,
        # CPUs add up the squares of a row in 16 sums or more, GPUs in as many as there are threads.
        tolerance=Tolerance(c=1, serial=64, threads=1, scale=size_of_rows),
        dtype="float32",
        input_note="a square table of uniform random numbers; one number in each row for the exact check",
        baseline="numpy_loop",
        kernels=kernels,
    )


def check_points(x: Any, y: Any, cell: Any) -> int:
    """Raise ValueError unless these are points and a cell; return how many points there are."""
    n: int = launch.check(x=x, y=y, ndim=1, dtype="float64")
    launch.check(cell=cell, shape=(2, 2), dtype="float64")
    return n


def check_signal(signal: Any, weights: Any) -> int:
    """Raise ValueError unless both are vectors of float64; return the length of the signal."""
    n: int = launch.check(
        signal=signal, weights=weights, ndim=1, dtype="float64", same_shape=False
    )
    return n


def check_table(table: Any) -> int:
    """Raise ValueError unless it is a matrix of float32; return how many rows it has."""
    rows, _ = launch.check(table=table, ndim=2, dtype="float32")
    return int(rows)


def _on_host(x: Any) -> Any:
    return x.get() if is_device_array(x) else x


def from_pinned(x_host: np.ndarray) -> Any:
    """Copy an array straight from pinned memory."""
    x = cupy().empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    x.set(x_host, stream=cupy().cuda.get_current_stream())
    return x


def _points_and_cell(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if (
        exact
    ):  # 3, 4 and 5 make a right triangle, and a sheared square has the area of the square
        k = whole_numbers(rng, n, 401, dtype, low=-400)
        return 3 * k, 4 * k, np.array([[1, 1], [0, 1]], dtype)
    cell = np.array([[2.0, 0.5], [-0.25, 1.5]]) + 0.1 * rng.random((2, 2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype), cell.astype(dtype)


def _signal_and_weights(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        return whole_numbers(rng, n, 10, dtype), whole_numbers(rng, N_WEIGHTS, 10, dtype)
    return uniform(rng, n, dtype), uniform(rng, N_WEIGHTS, dtype)


def _square_table(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The table is square; {n} is no square of a whole number.")
    if exact:  # the length of such a row is the size of its one number
        table = np.zeros((edge, edge), dtype)
        columns = whole_numbers(rng, edge, max(edge, 1), np.int64)
        table[np.arange(edge), columns] = whole_numbers(rng, edge, 9, dtype, low=1)
        return (table,)
    return (uniform(rng, n, dtype).reshape(edge, edge),)
