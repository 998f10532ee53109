"""What launches cost the host: a hundred in a row, by their arrays, behind a queue, in a library call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
from numba import cuda

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, raw_kernel
from gpuguide.machine.launch import grid_2d
from gpuguide.measure.clocks import DELAY_SOURCE
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, end_to_end_variant, kernel_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.how_to_time.study import QrCheck, qr_cupy, qr_numpy_variant
from gpuguide.topics.launch_overhead.kernels import (
    add_one,
    add_one_source,
    arrays_source,
    eight_arrays,
    one_array,
    one_launch,
    three_arrays,
)

# A hundred short kernels in a row -------------------------------------------------------------

LAUNCHES = 100
SIDE = 256
BLOCK = (16, 16)


def hundred_reference(x: Any) -> Any:
    """Return ``x + 100``."""
    return x + LAUNCHES


def with_cupy_arrays(x: Any) -> None:
    """Hand a CuPy array to each of the launches."""
    grid = _grid(x)
    x = cupy().asarray(x)  # a study hands out views
    for _ in range(LAUNCHES):
        add_one[grid, BLOCK](x)


def with_views(x: Any) -> None:
    """Hand each of the launches the view that was made once."""
    grid = _grid(x)
    for _ in range(LAUNCHES):
        add_one[grid, BLOCK](x)


def with_cached_launcher(x: Any) -> None:
    """Choose the compiled version and the grid once, then launch."""
    add = add_one.specialize(x)[_grid(x), BLOCK]
    for _ in range(LAUNCHES):
        add(x)


def with_raw_kernel(x: Any) -> None:
    """Launch a kernel in CUDA C++ through CuPy."""
    grid = _grid(x)
    x = cupy().asarray(x)
    add = _raw(add_one_source, "add_one").compiled
    # CuPy would hand over Python's int as 64 bits, and the kernel takes 32.
    arguments = (x, np.int32(x.shape[0]), np.int32(x.shape[1]))
    for _ in range(LAUNCHES):
        add(grid, BLOCK, arguments)


def with_graph(x: Any) -> None:
    """Launch a graph of all launches, which was captured before."""
    _grid(x)
    # A graph keeps addresses and shapes, so it serves one array; and one kernel, which a reader may edit.
    key = add_one, x.__cuda_array_interface__["data"][0], x.shape
    if key not in _GRAPHS:
        _GRAPHS[key] = capture(x)
    _GRAPHS[key].launch()


_GRAPHS: dict[tuple[Any, int, tuple[int, ...]], Any] = {}


def capture(x: Any) -> Any:
    """Record the launches on CuPy's current stream, without running them, as a ``cupy.cuda.Graph``."""
    stream = cupy().cuda.get_current_stream()
    with_views(cuda.device_array_like(x))  # compiled and loaded before anything is recorded
    with cuda.defer_cleanup():  # freeing memory would end a capture
        stream.begin_capture()
        with_views(x)
        return stream.end_capture()


def with_one_launch(x: Any) -> None:
    """Do all additions in one launch."""
    one_launch[_grid(x), BLOCK](x)


def _grid(x: Any) -> tuple[int, int]:
    shape: tuple[int, int] = launch.check(x=x, ndim=2, dtype="float64")
    return grid_2d(shape, BLOCK)


def study(kernels: Kernels = None) -> Study:
    """Describe the ladder from a launch with CuPy's array each time to one launch for all."""
    return Study(
        name="hundred",
        title="One hundred additions of one to a matrix",
        variants=(
            _hundred("cupy_arrays", with_cupy_arrays, "CuPy array each time"),
            _hundred("numba_views", with_views, "view made once", simulatable=True),
            _hundred("cached_launcher", with_cached_launcher, "cached launcher"),
            _hundred("raw_kernel", with_raw_kernel, "RawKernel"),
            _hundred("graph", with_graph, "CUDA graph"),
            _hundred("one_launch", with_one_launch, "one launch", simulatable=True),
            kernel_variant(
                "kernels_alone",
                with_graph,
                "the hundred kernels, GPU time",
                mutates=True,
                simulatable=False,
                note="The graph, by the GPU's clock.",
            ),
        ),
        sizes=(SIDE**2,),
        inputs=_exact_matrix,
        reference=hundred_reference,
        equal=True,
        dtype="float64",
        size_name="matrix elements",
        input_note="multiples of 1/1024, so that a hundred additions are exact",
        baseline="cupy_arrays",
        kernels=kernels,
    )


def _hundred(
    name: str, call: Callable[..., None], label: str, *, simulatable: bool = False
) -> Variant:
    # From the call until the GPU is done; the matrix is there already.
    return Variant(
        name,
        call,
        label=label,
        clock="end_to_end",
        arrays="numba",
        mutates=True,
        simulatable=simulatable,
    )


def _exact_matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    values = whole_numbers(rng, n, 1024, dtype)
    rows = next(rows for rows in range(isqrt(n) or 1, 0, -1) if n % rows == 0)
    return ((values if exact else values / 1024).reshape(rows, n // rows),)


# By the number and the kind of arrays ---------------------------------------------------------

# So little work that a launch takes longer than what it launches.
ELEMENTS = 1024
THREADS_PER_BLOCK = 256
BLOCKS_PER_GRID = ELEMENTS // THREADS_PER_BLOCK


def counting_reference(first: Any, *others: Any) -> Any:
    """Return the first array: it counts up, and is nowhere smaller than another one.

    >>> counting_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return first.copy()


# The arrays are not checked below: the launch alone is to be timed.


def launch_one(*arrays: Any) -> None:
    """Launch a kernel with one array, a view or CuPy's."""
    one_array[BLOCKS_PER_GRID, THREADS_PER_BLOCK](arrays[-1])


def launch_three(*arrays: Any) -> None:
    """Launch a kernel with three arrays, views or CuPy's."""
    three_arrays[BLOCKS_PER_GRID, THREADS_PER_BLOCK](arrays[0], arrays[1], arrays[-1])


def launch_eight(*arrays: Any) -> None:
    """Launch a kernel with eight arrays, views or CuPy's."""
    eight_arrays[BLOCKS_PER_GRID, THREADS_PER_BLOCK](*arrays)


def launch_raw(*arrays: Any, name: str = "three_arrays", n_arrays: int = 3) -> None:
    """Launch a kernel in CUDA C++ through CuPy: some of the arrays, the last one, and their length."""
    kernel = _raw(arrays_source, name).compiled
    chosen = (*arrays[: n_arrays - 1], arrays[-1])
    kernel((BLOCKS_PER_GRID,), (THREADS_PER_BLOCK,), (*chosen, np.int32(ELEMENTS)))


def launch_ufunc(*arrays: Any) -> None:
    """Call CuPy's ufunc, which looks at three arrays' types and shapes each time."""
    cupy().maximum(arrays[0], arrays[1], out=arrays[-1])


@functools.cache
def _raw(source: str, name: str) -> Any:
    return raw_kernel(source, name)


def launches_study(kernels: Kernels = None) -> Study:
    """Describe the timing of launches by the number and the kind of their arrays."""
    launchers = {1: launch_one, 3: launch_three, 8: launch_eight}
    names = {1: "one_array", 3: "three_arrays", 8: "eight_arrays"}
    variants = []
    for n, launcher in launchers.items():
        words = "1 array" if n == 1 else f"{n} arrays"
        raw = functools.partial(launch_raw, name=names[n], n_arrays=n)
        variants += [
            _launch(f"cupy_arrays_{n}", launcher, f"Numba, CuPy arrays, {words}"),
            _launch(f"views_{n}", launcher, f"Numba, views, {words}", "numba"),
            _launch(f"raw_{n}", raw, f"RawKernel, {words}"),
        ]
    variants.append(_launch("ufunc_3", launch_ufunc, "CuPy ufunc, 3 arrays"))
    return _study("launches", "One launch, by its arrays", tuple(variants), kernels)


def busy_study(kernels: Kernels = None) -> Study:
    """Describe the timing of launches behind work that is still in the queue."""
    return _study(
        "busy",
        "Launching while the queue is busy",
        (
            _launch("behind_views", _behind(launch_three), "views made once", "numba"),
            _launch("behind_cupy_arrays", _behind(launch_three), "CuPy arrays"),
            _launch("waiting", _behind(launch_waiting), "views made each time, waiting"),
        ),
        kernels,
    )


def launch_waiting(*arrays: Any) -> None:
    """Launch with views made each time by as_cuda_array(x), which waits for the stream."""
    launch_three(*map(cuda.as_cuda_array, (arrays[0], arrays[1], arrays[-1])))


DELAY_NS = 1_000_000
"""How long the queue is kept busy ahead of a launch, in nanoseconds."""


def behind_a_delay(call: Callable[..., None], *arrays: Any) -> None:
    """Put a delay into the current stream, then launch behind it."""
    _raw(DELAY_SOURCE, "delay")((1,), (1,), (np.uint64(DELAY_NS),))
    call(*arrays)


def _behind(call: Callable[..., None]) -> Callable[..., None]:
    return functools.partial(behind_a_delay, call)


def _launch(name: str, call: Callable[..., None], label: str, arrays: str = "cupy") -> Variant:
    # Not batchable: a graph of a thousand launches would take longer to capture than all samples.
    return Variant(name, call, label=label, arrays=arrays, batchable=False)


def _study(name: str, title: str, variants: tuple[Variant, ...], kernels: Kernels) -> Study:
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
        baseline=variants[0].name,
        kernels=kernels,
    )


def _counting_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    first = np.arange(n, dtype=dtype)
    others = (first * uniform(rng, n, dtype) for _ in range(6))
    return (first, *(np.floor(x) if exact else x for x in others))


# A library call -------------------------------------------------------------------------------

QR_SIZES = tuple(rows**2 for rows in (64, 128, 256, 512, 1024, 2048))


def qr_copied(a: np.ndarray, out: np.ndarray) -> None:
    """Copy a matrix to the GPU, factorise it there, and copy Q and R back."""
    qr_cupy(cupy().asarray(a)).get(out=out)


def qr_copied_pinned(a: np.ndarray, out: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    a_device = cupy().empty(a.shape, a.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    a_device.set(a, stream=cupy().cuda.get_current_stream())
    qr_cupy(a_device).get(out=out)


def qr_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of NumPy's and CuPy's QR factorisation in single precision."""
    return Study(
        name="qr",
        title="QR factorisation in single precision",
        variants=(
            qr_numpy_variant(),
            cupy_variant("cupy", qr_cupy, "CuPy", allocates=True, batchable=False),
            end_to_end_variant("copied", qr_copied, "CuPy with pageable copies"),
            end_to_end_variant(
                "copied_pinned", qr_copied_pinned, "CuPy with pinned copies", arrays="pinned"
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
        kernels=kernels,
    )


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = isqrt(n)
    if exact:
        return (rng.integers(-3, 4, (rows, rows)).astype(dtype),)
    return (2 * uniform(rng, n, dtype).reshape(rows, rows) - 1,)
