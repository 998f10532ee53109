"""Reading alone: each block of threads adds up 4096 neighbours and writes one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.know_your_gpu.kernels import THREADS_PER_BLOCK, TILE, block_sums_kernel

SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))


def block_sums(a: Any, out: Any) -> None:
    """Read only, but for one sum that each block of threads writes for its 4096 elements.

    Parameters
    ----------
    a : device array of float32, shape (n,)
        What is read.
    out : device array of float32, shape (ceil(n / 4096),)
        Filled with the sums.

    Raises
    ------
    ArgumentError
        A shape or dtype does not fit.

    Examples
    --------
    >>> try:
    ...     block_sums(np.empty(5000, np.float32), np.empty(1, np.float32))
    ... except ValueError as error:
    ...     print(error)
    block_sums takes a float32 vector, and out of float32 with 2 places for 5000 elements; got (1,) float32.
    """
    n_sums = -(-int(a.size) // TILE)
    if (
        a.ndim != 1
        or a.dtype != np.float32
        or out.shape != (n_sums,)
        or out.dtype != np.float32
    ):
        raise ArgumentError(
            f"block_sums takes a float32 vector, and out of float32 with {n_sums} places for {a.size} "
            f"elements; got {out.shape} {out.dtype}."
        )
    if n_sums:
        block_sums_kernel[n_sums, THREADS_PER_BLOCK, current_stream()](
            numba_view(a), numba_view(out)
        )


def block_sums_reference(a: np.ndarray) -> np.ndarray:
    """Add up each run of 4096 elements.

    Parameters
    ----------
    a : ndarray, shape (n,)
        Any values.

    Returns
    -------
    ndarray, shape (ceil(n / 4096),)
        The sums; the last run may be shorter.

    Examples
    --------
    >>> block_sums_reference(np.ones(5000)).tolist()
    [4096.0, 904.0]
    """
    return np.add.reduceat(a, np.arange(0, a.size, TILE)) if a.size else np.empty(0, a.dtype)


def block_sums_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of reading one array and writing a sum for every 4096 elements.

    Parameters
    ----------
    n_bytes : int
        Bytes of the array.
    dtype : dtype
        Type of its elements.

    Returns
    -------
    Traffic
        Bytes read and written, additions.

    Examples
    --------
    >>> block_sums_traffic(2**20, "float32").bytes_written
    256
    """
    itemsize = np.dtype(dtype).itemsize
    n = n_bytes // itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=-(-n // TILE) * itemsize, flops=n)


def study() -> Study:
    """Describe the measurement of reading alone.

    Returns
    -------
    Study
        One variant from 2**12 to 2**30 bytes.

    Examples
    --------
    >>> study().name
    'reads'
    """
    return Study(
        name="reads",
        title="Reading alone",
        variants=(
            Variant(
                "read", block_sums, label="read", arrays="numba", traffic=block_sums_traffic
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=block_sums_reference,
        output=lambda n, dtype: ((-(-(n // np.dtype(dtype).itemsize) // TILE),), dtype),
        dtype="float32",
        tolerance=Tolerance(
            c=4, serial=16, scale=lambda a: block_sums_reference(np.abs(a)), threads=256
        ),
        size_name="bytes an array",
        input_note="uniform random numbers; -1, 0 and 1 for the exact check",
        baseline="read",
    )


def _inputs(
    n_bytes: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    n = n_bytes // np.dtype(dtype).itemsize
    if exact:
        return (whole_numbers(rng, n, 2, dtype, low=-1),)
    return (uniform(rng, n, dtype),)
