"""One program for NumPy and CuPy, a convolution in one dimension, and a loop over the rows of a table."""

from functools import lru_cache
from math import isqrt, log2

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import in_threads, thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.numpy_to_cupy.functions import at_once, in_cells, row_by_row
from gpuguide.topics.numpy_to_cupy.kernels_cpu import cpu_threads

ALONE = 10**2  # where the text asks what the GPU itself does
N_WEIGHTS = 15 * 15
# With less, the threads wait for Python; with more, some of them have nothing to do.
PART = 1 << 16
# What a call gets is on the GPU already, and its time ends when the result is there.
on_the_gpu = {"arrays": "numba", "allocates": True}


def cupy(x, y, cell):
    """Hand the same function arrays of CuPy's."""
    return in_cells(*map(cp.asarray, (x, y, cell)))


def with_copies(x, y, cell, out):
    """Copy the points to the GPU, call the same function, and copy the result back."""
    in_cells(*map(cp.asarray, (x, y, cell))).get(out=out)


def with_copies_pinned(x, y, cell, out):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    in_cells(*map(from_pinned, (x, y, cell))).get(out=out)


def from_pinned(x_host):
    """Copy an array straight from pinned memory."""
    x = cp.empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    x.set(x_host, stream=cp.cuda.get_current_stream())
    return x


def cells_reference(x, y, cell):
    """Divide by the area that the cell's two edges span."""
    (a, b), (c, d) = cell.tolist()
    return (x**2 + y**2) / (a * d - b * c)


def points_and_cell(n, dtype, rng, exact):
    if exact:  # 3, 4 and 5 make a right triangle; a sheared square has the area of the square
        k = whole_numbers(rng, n, 401, dtype, low=-400)
        return 3 * k, 4 * k, np.array([[1, 1], [0, 1]], dtype)
    cell = np.array([[2.0, 0.5], [-0.25, 1.5]]) + 0.1 * rng.random((2, 2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype), cell.astype(dtype)


cells = Study(
    name="cells",
    title="A program of four functions of NumPy's",
    sizes=(10**2, 10**3, 10**4, 10**5, 10**6, 10**7),
    size_name="points",
    dtype="float64",
    inputs=points_and_cell,
    input_note="uniform random numbers from 0 to 1; for the exact check 3, 4, 5 and multiples",
    reference=cells_reference,
    tolerance=Tolerance(c=4, serial=4),
    baseline="numpy",
    variants=(
        cpu(in_cells, "NumPy, one thread", name="numpy", allocates=True),
        cpu(cpu_threads, "Numba, all CPU threads", "all"),
        end_to_end(cupy, "CuPy", **on_the_gpu),
        gpu(
            in_cells,
            "CuPy, work on the GPU alone",
            name="gpu_alone",
            allocates=True,
            up_to=ALONE,
            because=f"timed at {ALONE} points only",
        ),
        end_to_end(with_copies, "CuPy, pageable copies"),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned"),
    ),
)


def convolve_numpy(signal, weights):
    """Call np.convolve, which NumPy runs on one thread."""
    return np.convolve(signal, weights) if signal.size else signal


def convolve_threads(signal, weights):
    """Call np.convolve for parts of the signal that overlap, on all threads."""
    if not signal.size:
        return signal
    padded = np.pad(signal, weights.size - 1)
    out = np.empty(signal.size + weights.size - 1)

    def one(start):
        part = out[start : start + PART]
        signal_there = padded[start : start + part.size + weights.size - 1]
        part[:] = np.convolve(signal_there, weights, "valid")

    list(thread_pool().map(one, range(0, out.size, PART)))
    return out


def convolve_cupy(signal, weights):
    """Hand np.convolve arrays of CuPy's."""
    if not signal.size:
        return signal
    return np.convolve(*map(cp.asarray, (signal, weights)))  # CuPy's, by __array_function__


def convolve_reference(signal, weights):
    """Add up the signal once for each weight, shifted by its place."""
    n, k = signal.size, weights.size
    padded, out = np.pad(signal, k - 1), np.zeros(n + k - 1 if n else 0)

    def one(start):
        part = out[start : start + PART]
        for j in range(k):
            part += weights[k - 1 - j] * padded[start + j : start + j + part.size]

    in_threads(one, range(0, out.size, PART), out.nbytes)  # pieces stay in a cache
    return out


# The last one: the same inputs come once for the host and once for the GPU.
@lru_cache(maxsize=1)
def _convolved(signal, weights):
    return convolve_reference(np.frombuffer(signal), np.frombuffer(weights))


class ConvolutionCheck:
    """Each number is the sum of its products, to within 8 eps log2(n) times both norms, as of an FFT."""

    def prepare(self, inputs):
        """Return the convolution, and how far a result may be from it; on the host, for every memory."""
        signal, weights = map(to_host, inputs)
        size = float((signal**2).sum()) ** 0.5 * float((weights**2).sum()) ** 0.5
        rounding = 8 * float(np.finfo(np.float64).eps) * log2(signal.size + weights.size)
        return _convolved(signal.tobytes(), weights.tobytes()), rounding * size

    def compare(self, output, prepared):
        """Return the largest difference."""
        expected, tolerance = prepared
        if output.shape != expected.shape:
            raise MismatchError(
                f"The convolution should have shape {expected.shape}; it has {output.shape}."
            )
        return float(abs(to_host(output) - expected).max(initial=0)), tolerance


def to_host(x):
    return x.get() if is_device_array(x) else x


def signal_and_weights(n, dtype, rng, exact):
    if exact:
        return tuple(whole_numbers(rng, size, 10, dtype) for size in (n, N_WEIGHTS))
    return uniform(rng, n, dtype), uniform(rng, N_WEIGHTS, dtype)


convolve = Study(
    name="convolve",
    title=f"A signal convolved with {N_WEIGHTS} weights",
    sizes=(2048**2,),
    size_name="samples",
    dtype="float64",
    inputs=signal_and_weights,
    input_note=f"random numbers from 0 to 1, and {N_WEIGHTS} such weights; digits for the exact check",
    check=ConvolutionCheck(),
    answer=np.convolve,
    output=lambda n, dtype: (n + N_WEIGHTS - 1 if n else 0, dtype),
    baseline="numpy",
    variants=(
        cpu(convolve_numpy, "NumPy, one thread", name="numpy", allocates=True),
        cpu(
            convolve_threads, "NumPy, all threads", "all", name="numpy_threads", allocates=True
        ),
        end_to_end(convolve_cupy, "CuPy", name="cupy", **on_the_gpu),
    ),
)


def cupy_loop(table):
    """Hand the loop over the rows an array of CuPy's."""
    return row_by_row(cp.asarray(table))


def cupy_once(table):
    """Hand the one call for all rows an array of CuPy's."""
    return at_once(cp.asarray(table))


def rows_reference(table):
    """Divide by the root of the sum of squares."""
    return table / np.sqrt((table**2).sum(axis=1))[:, None]


def size_of_rows(table):
    """Return the sizes that the numbers should have."""
    return np.abs(rows_reference(table))


def square_table(n, dtype, rng, exact):
    edge = isqrt(n)
    if edge * edge != n:
        raise ArgumentError(f"The table is square; {n} is no square of a whole number.")
    if exact:  # the length of such a row is the size of its one number
        table = np.zeros((edge, edge), dtype)
        columns = whole_numbers(rng, edge, max(edge, 1), np.int64)
        table[np.arange(edge), columns] = whole_numbers(rng, edge, 9, dtype, low=1)
        return (table,)
    return (uniform(rng, n, dtype).reshape(edge, edge),)


rows = Study(
    name="rows",
    title="A table whose rows get the length one",
    sizes=(1024**2,),
    inputs=square_table,
    input_note="a square table of uniform random numbers; one number in each row for the exact check",
    reference=rows_reference,
    # CPUs add up the squares of a row in 16 sums or more, GPUs in as many as there are threads.
    tolerance=Tolerance(c=1, serial=64, threads=1, scale=size_of_rows),
    small=(0, 1, 31**2, 33**2),
    baseline="numpy_loop",
    variants=(
        cpu(row_by_row, "NumPy, one thread, row by row", name="numpy_loop", allocates=True),
        cpu(at_once, "NumPy, one thread, at once", name="numpy_once", allocates=True),
        end_to_end(cupy_loop, "CuPy, row by row", **on_the_gpu),
        end_to_end(cupy_once, "CuPy, at once", **on_the_gpu),
    ),
)
