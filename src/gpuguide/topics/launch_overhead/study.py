"""What a launch costs the host: by the number of arrays, by their kind, and behind a busy queue."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cuda, cupy, current_stream, numba_view
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.how_to_time.study import QrCheck, qr_cupy, qr_numpy
from gpuguide.topics.launch_overhead.kernels import (
    KERNELS,
    RAW_KERNELS,
    delay_kernel,
    elementwise_kernel,
)

ELEMENTS = 1024
THREADS_PER_BLOCK = 256
BLOCKS_PER_GRID = ELEMENTS // THREADS_PER_BLOCK
N_ARRAYS = (1, 3, 8)
DELAY_NS = 1_000_000
"""How long the queue is kept busy ahead of a launch, in nanoseconds."""
QR_SIZES = tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048))


def counting_reference(first: Any, *others: Any) -> Any:
    """Return the first array: it counts up, and is nowhere smaller than another one.

    Parameters
    ----------
    first : array, shape (n,)
        ``i`` at place i, so that a kernel without inputs can work it out, too.
    *others : array, shape (n,)
        Smaller everywhere but at place 0.

    Returns
    -------
    array, shape (n,)
        A copy of the first.

    Examples
    --------
    >>> counting_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return first.copy()


def launch_once_wrapped(*views: Any, n_arrays: int = 3) -> None:
    """Launch with views that were made before.

    The arrays are not checked here and in the launchers below: the launch alone is to be timed.

    Parameters
    ----------
    *views : seven Numba device arrays and the output, of float32, shape (1024,)
        The first inputs and the output are handed on.
    n_arrays : {1, 3, 8}
        How many.

    Raises
    ------
    ArgumentError
        There is no kernel for so many arrays.

    Examples
    --------
    >>> try:
    ...     launch_once_wrapped(n_arrays=4)
    ... except ArgumentError as error:
    ...     print(error)
    n_arrays must be 1, 3 or 8; got 4.
    """
    kernel, arrays = _chosen(KERNELS, views, n_arrays)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK, current_stream()](*arrays)


def launch_bare(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with bare CuPy arrays: Numba exports each of them anew.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    n_arrays : {1, 3, 8}
        How many.

    Examples
    --------
    >>> try:
    ...     launch_bare(n_arrays=4)
    ... except ArgumentError as error:
    ...     print(error)
    n_arrays must be 1, 3 or 8; got 4.
    """
    kernel, bare = _chosen(KERNELS, arrays, n_arrays)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK, current_stream()](*bare)


def launch_wrapping(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with views made at each launch, without waiting for the GPU.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    n_arrays : {1, 3, 8}
        How many.

    Examples
    --------
    >>> try:
    ...     launch_wrapping(n_arrays=4)
    ... except ArgumentError as error:
    ...     print(error)
    n_arrays must be 1, 3 or 8; got 4.
    """
    kernel, bare = _chosen(KERNELS, arrays, n_arrays)
    views = map(numba_view, bare)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK, current_stream()](*views)


def launch_wrapping_and_waiting(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with views made each time by as_cuda_array(x), which waits.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    n_arrays : {1, 3, 8}
        How many.

    Examples
    --------
    >>> try:
    ...     launch_wrapping_and_waiting(n_arrays=4)
    ... except ArgumentError as error:
    ...     print(error)
    n_arrays must be 1, 3 or 8; got 4.
    """
    kernel, bare = _chosen(KERNELS, arrays, n_arrays)
    views = map(cuda.as_cuda_array, bare)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK, current_stream()](*views)


def launch_raw(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch a kernel in CUDA C++ through CuPy: the arrays and their length.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    n_arrays : {1, 3, 8}
        How many.

    Examples
    --------
    >>> try:
    ...     launch_raw(n_arrays=4)
    ... except ArgumentError as error:
    ...     print(error)
    n_arrays must be 1, 3 or 8; got 4.
    """
    kernel, chosen = _chosen(RAW_KERNELS, arrays, n_arrays)
    kernel((BLOCKS_PER_GRID,), (THREADS_PER_BLOCK,), (*chosen, np.int32(ELEMENTS)))


def launch_ufunc(*arrays: Any) -> None:
    """Call CuPy's ufunc, which looks at three arrays' types and shapes each time.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    """
    cupy().maximum(arrays[0], arrays[1], out=arrays[-1])


def launch_elementwise(*arrays: Any, n_arrays: int = 3) -> None:
    """Call an ElementwiseKernel, the machinery behind CuPy's ufuncs.

    Parameters
    ----------
    *arrays : seven cupy.ndarrays and the output, of float32, shape (1024,)
        As for `launch_once_wrapped`.
    n_arrays : {3, 8}
        How many.
    """
    elementwise_kernel(n_arrays)(*arrays[: n_arrays - 1], arrays[-1])


def study(counts: Sequence[int] = N_ARRAYS) -> Study:
    """Describe the timing of launches by the number and the kind of their arrays.

    Parameters
    ----------
    counts : sequence of {1, 3, 8}
        Numbers of arrays; the ufunc takes three and is left out where they are not among them.

    Returns
    -------
    Study
        One kernel's work in every way, with so many arrays of 1024 float32.

    Examples
    --------
    >>> [variant.name for variant in study().variants][:4]
    ['once_1', 'bare_1', 'wrapping_1', 'waiting_1']
    >>> len(study().variants), len(study(counts=(3,)).variants)
    (18, 7)
    """
    variants = [variant for n_arrays in counts for variant in _ways(n_arrays)]
    baseline = "once_3" if 3 in counts else variants[0].name
    return _study("launches", "Launching one kernel in every way", tuple(variants), baseline)


def _ways(n_arrays: int) -> tuple[Variant, ...]:
    ways = (
        ("once", launch_once_wrapped, "Numba, wrapped once", "numba"),
        ("bare", launch_bare, "Numba, bare CuPy arrays", "cupy"),
        ("wrapping", launch_wrapping, "Numba, wrapped each time", "cupy"),
        ("waiting", launch_wrapping_and_waiting, "Numba, wrapped each time, waiting", "cupy"),
        ("raw", launch_raw, "RawKernel", "cupy"),
        ("elementwise", launch_elementwise, "CuPy ElementwiseKernel", "cupy"),
    )
    # An ElementwiseKernel of ours has inputs, and a ufunc has two.
    variants = [
        _launch(f"{name}_{n_arrays}", call, n_arrays, label, arrays)
        for name, call, label, arrays in ways
        if n_arrays > 1 or name != "elementwise"
    ]
    if n_arrays == 3:
        variants.append(_variant("ufunc_3", launch_ufunc, "CuPy ufunc, 3 arrays"))
    return tuple(variants)


def busy_study() -> Study:
    """Describe the timing of launches behind work that is still in the queue.

    Returns
    -------
    Study
        The four ways to hand three arrays to Numba, each behind a delay of `DELAY_NS`.

    Examples
    --------
    >>> [variant.name for variant in busy_study().variants]
    ['once', 'bare', 'wrapping', 'waiting']
    """
    return _study(
        "busy",
        "Launching while the queue is busy",
        (
            _variant("once", _behind(launch_once_wrapped), "wrapped once", "numba"),
            _variant("bare", _behind(launch_bare), "bare CuPy arrays"),
            _variant("wrapping", _behind(launch_wrapping), "wrapped each time"),
            _variant(
                "waiting", _behind(launch_wrapping_and_waiting), "wrapped each time, waiting"
            ),
        ),
        "once",
    )


def behind_a_delay(launch: Callable[..., None], *arrays: Any) -> None:
    """Put a delay into the current stream, then launch behind it.

    Parameters
    ----------
    launch : callable
        Called with the arrays.
    *arrays : device array
        Handed on.
    """
    delay_kernel()((1,), (1,), (np.uint64(DELAY_NS),))
    launch(*arrays)


def qr_study() -> Study:
    """Describe the comparison of NumPy's and CuPy's QR factorisation in single precision.

    Returns
    -------
    Study
        Two variants from 64 x 64 to 2048 x 2048 float32.

    Examples
    --------
    >>> qr_study().dtype, qr_study().sizes[-1] == 2048**2
    ('float32', True)
    """
    return Study(
        name="qr",
        title="QR factorisation in single precision",
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
        dtype="float32",
        size_name="matrix elements",
        input_note="uniform random numbers from -1 to 1; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
    )


def _chosen(
    kernels: dict[int, Any], arrays: tuple[Any, ...], n_arrays: int
) -> tuple[Any, tuple[Any, ...]]:
    try:
        return kernels[n_arrays], (*arrays[: n_arrays - 1], arrays[-1])
    except KeyError:
        raise ArgumentError(f"n_arrays must be 1, 3 or 8; got {n_arrays!r}.") from None


def _behind(launch: Callable[..., None]) -> Callable[..., None]:
    return functools.partial(behind_a_delay, launch)


def _launch(
    name: str, call: Callable[..., None], n_arrays: int, label: str, arrays: str = "cupy"
) -> Variant:
    plural = "array" if n_arrays == 1 else "arrays"
    with_arrays = functools.partial(call, n_arrays=n_arrays)
    return _variant(name, with_arrays, f"{label}, {n_arrays} {plural}", arrays)


def _variant(name: str, call: Callable[..., None], label: str, arrays: str = "cupy") -> Variant:
    # Not batchable: a graph of a thousand launches would take longer to capture than all samples.
    return Variant(name, call, label=label, arrays=arrays, batchable=False)


def _study(name: str, title: str, variants: tuple[Variant, ...], baseline: str) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=(ELEMENTS,),
        inputs=_counting_inputs,
        check=EqualCheck(counting_reference),
        dtype="float32",
        input_note="one array that counts up and six smaller random ones",
        baseline=baseline,
    )


def _counting_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    first = np.arange(n, dtype=dtype)
    others = (first * uniform(rng, n, dtype) for _ in range(6))
    return (first, *(np.floor(x) if exact else x for x in others))


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = isqrt(n)
    if exact:
        return (rng.integers(-3, 4, (rows, rows)).astype(dtype),)
    return (2 * uniform(rng, n, dtype).reshape(rows, rows) - 1,)
