"""What a launch costs the host: by the number of arrays, by their kind, and behind a busy queue."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numba import cuda

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, numba_view
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.how_to_time.study import QrCheck, qr_cupy, qr_numpy_variant
from gpuguide.topics.launch_overhead.kernels import (
    KERNELS,
    RAW_KERNELS,
    delay_kernel,
    elementwise_kernel,
)

# So little work that a launch takes longer than what it launches.
ELEMENTS = 1024
THREADS_PER_BLOCK = 256
BLOCKS_PER_GRID = ELEMENTS // THREADS_PER_BLOCK
N_ARRAYS = (1, 3, 8)
DELAY_NS = 1_000_000
"""How long the queue is kept busy ahead of a launch, in nanoseconds."""
QR_SIZES = tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048))


def counting_reference(first: Any, *others: Any) -> Any:
    """Return the first array: it counts up, and is nowhere smaller than another one.

    >>> counting_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return first.copy()


# The arrays are not checked here and in the launchers below: the launch alone is to be timed.


def launch_once_wrapped(*views: Any, n_arrays: int = 3) -> None:
    """Launch with views that were made before."""
    kernel, arrays = kernel_and_arrays(KERNELS, views, n_arrays)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK](*arrays)


def launch_bare(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with bare CuPy arrays: Numba exports each of them anew."""
    kernel, bare = kernel_and_arrays(KERNELS, arrays, n_arrays)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK](*bare)


def launch_wrapping(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with views made at each launch, without waiting for the GPU."""
    kernel, bare = kernel_and_arrays(KERNELS, arrays, n_arrays)
    views = map(numba_view, bare)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK](*views)


def launch_wrapping_and_waiting(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch with views made each time by as_cuda_array(x), which waits."""
    kernel, bare = kernel_and_arrays(KERNELS, arrays, n_arrays)
    views = map(cuda.as_cuda_array, bare)
    kernel[BLOCKS_PER_GRID, THREADS_PER_BLOCK](*views)


def launch_raw(*arrays: Any, n_arrays: int = 3) -> None:
    """Launch a kernel in CUDA C++ through CuPy: the arrays and their length."""
    kernel, chosen = kernel_and_arrays(RAW_KERNELS, arrays, n_arrays)
    # CuPy would hand over a Python int as 64 bits, and the kernel takes 32.
    kernel((BLOCKS_PER_GRID,), (THREADS_PER_BLOCK,), (*chosen, np.int32(ELEMENTS)))


def launch_ufunc(*arrays: Any) -> None:
    """Call CuPy's ufunc, which looks at three arrays' types and shapes each time."""
    cupy().maximum(arrays[0], arrays[1], out=arrays[-1])


def launch_elementwise(*arrays: Any, n_arrays: int = 3) -> None:
    """Call an ElementwiseKernel, the machinery behind CuPy's ufuncs."""
    elementwise_kernel(n_arrays)(*arrays[: n_arrays - 1], arrays[-1])


def study(counts: Sequence[int] = N_ARRAYS, kernels: Kernels = None) -> Study:
    """Describe the timing of launches by the number and the kind of their arrays."""
    variants = [variant for n_arrays in counts for variant in _ways(n_arrays)]
    baseline = "once_3" if 3 in counts else variants[0].name
    title = "Launching one kernel in every way"
    return _study("launches", title, tuple(variants), baseline, kernels)


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


def busy_study(kernels: Kernels = None) -> Study:
    """Describe the timing of launches behind work that is still in the queue."""
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
        kernels,
    )


def behind_a_delay(launch: Callable[..., None], *arrays: Any) -> None:
    """Put a delay into the current stream, then launch behind it."""
    delay_kernel()((1,), (1,), (np.uint64(DELAY_NS),))
    launch(*arrays)


def qr_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's and CuPy's QR factorisation in single precision."""
    return Study(
        name="qr",
        title="QR factorisation in single precision",
        variants=(
            qr_numpy_variant(),
            cupy_variant("cupy", qr_cupy, "CuPy", allocates=True, batchable=False),
        ),
        sizes=QR_SIZES,
        inputs=_matrix,
        check=QrCheck(),
        output=lambda n, dtype: ((2 * isqrt(n), isqrt(n)), dtype),
        dtype="float32",
        size_name="matrix elements",
        input_note="uniform random numbers from -1 to 1; whole numbers from -3 to 3 for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def kernel_and_arrays(
    kernels: dict[int, Any], arrays: tuple[Any, ...], n_arrays: int
) -> tuple[Any, tuple[Any, ...]]:
    """Choose the kernel for so many arrays, and the arrays, the last one among them."""
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


def _study(
    name: str, title: str, variants: tuple[Variant, ...], baseline: str, kernels: Kernels
) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=(ELEMENTS,),
        inputs=_counting_inputs,
        reference=counting_reference,
        equal=True,
        dtype="float32",
        input_note="one array that counts up and six smaller random ones",
        baseline=baseline,
        kernels=kernels,
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
