"""Standardised columns in two layouts, a convolution in one dimension, rows in a loop and at once."""

from functools import lru_cache
from math import isqrt, log2

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import in_threads, thread_pool
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.numpy_to_cupy.functions import (
    at_once,
    row_by_row,
    standardise,
    standardise_by_products,
)
from gpuguide.topics.numpy_to_cupy.kernels_cpu import cpu_threads

COLUMNS = 100
N_WEIGHTS = 15 * 15
# With less, the threads wait for Python; with more, some of them have nothing to do.
PART = 1 << 16
# What a call gets is on the GPU already, and its time ends when the result is there.
on_the_gpu = {"arrays": "numba", "allocates": True}


def cupy(table):
    """Hand the same function an array of CuPy's."""
    return standardise(cp.asarray(table))


def cupy_by_products(table):
    """Let matrix products add up, for which CuPy calls cuBLAS."""
    return standardise_by_products(cp.asarray(table))


def with_copies(table, out):
    """Copy the table to the GPU, call the same function, and copy the result back."""
    standardise(cp.asarray(table)).get(out=out)


def with_copies_pinned(table_host, out):
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    table = cp.empty(table_host.shape, table_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    table.set(table_host, stream=cp.cuda.get_current_stream())
    standardise(table).get(out=out)


def together_numpy(stored):
    """Call the function for a table whose columns lie together in memory, on one thread."""
    return standardise(stored.T).T


def together_cupy(stored):
    """Do the same on the GPU."""
    return together_numpy(cp.asarray(stored))


def columns_reference(table):
    """Divide what is left without the mean by the root of its mean square."""
    left = table - table.sum(axis=0) / len(table)
    return left / np.sqrt((left * left).sum(axis=0) / len(table))


def table_of_columns(n, dtype, rng, exact):
    rows, rest = divmod(n, COLUMNS)
    if rest or rows % 2:
        raise ArgumentError(
            f"The table has {COLUMNS} columns and an even number of rows; got {n} numbers."
        )
    # As often above the mean as below it, and always as far. CuPy's variance multiplies by 1 / rows, which
    # is exact for powers of two alone.
    if exact:
        signs = rng.permuted(
            np.repeat([[-1], [1]], rows // 2, axis=0).repeat(COLUMNS, axis=1), axis=0
        )
        mean, deviation = rng.integers(-9, 10, COLUMNS), 2 ** rng.integers(0, 4, COLUMNS)
        return ((mean + deviation * signs).astype(dtype),)
    return (uniform(rng, n, dtype).reshape(rows, COLUMNS),)


def stored_by_columns(n, dtype, rng, exact):
    (table,) = table_of_columns(n, dtype, rng, exact)
    return (np.ascontiguousarray(table.T),)


tables = {
    "size_name": "numbers",
    "input_note": "uniform random numbers from 0 to 1; two numbers in each column for the exact check",
    # NumPy adds up one row after the other.
    "tolerance": Tolerance(c=4, serial=lambda n: n // COLUMNS, threads=1),
    "small": (2_000, 6_600, 26_600),
    "baseline": "numpy",
}

columns = Study(
    name="columns",
    title=f"A table of {COLUMNS} columns, standardised",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**7),
    dtype="float64",
    inputs=table_of_columns,
    reference=columns_reference,
    variants=(
        cpu(standardise, "NumPy, one thread", name="numpy", allocates=True),
        cpu(cpu_threads, "Numba, all CPU threads", "all"),
        end_to_end(cupy, "CuPy", **on_the_gpu),
        end_to_end(cupy_by_products, "CuPy, sums by cuBLAS", **on_the_gpu),
        gpu(standardise, "CuPy, work on the GPU alone", name="gpu_alone", allocates=True),
        end_to_end(with_copies, "CuPy, pageable copies"),
        end_to_end(with_copies_pinned, "CuPy, pinned copies", arrays="pinned"),
    ),
    **tables,
)


one_piece = {
    "sizes": (10**7,),
    "inputs": stored_by_columns,
    "reference": lambda stored: columns_reference(stored.T).T,
    "variants": (
        cpu(together_numpy, "NumPy, one thread", name="numpy", allocates=True),
        end_to_end(together_cupy, "CuPy", name="cupy", **on_the_gpu),
        gpu(together_numpy, "CuPy, work on the GPU alone", name="gpu_alone", allocates=True),
    ),
    **tables,
}

together = Study(
    name="together",
    title="The same table, each column in one piece, float64",
    dtype="float64",
    **one_piece,
)

together_single = Study(
    name="together_single",
    title="The same table, each column in one piece, float32",
    dtype="float32",
    **one_piece,
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
