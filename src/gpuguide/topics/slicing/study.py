"""Part of an array on the host is wanted on the GPU: taken out before the copy, or after it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.machine.cpu import assign, thread_pool
from gpuguide.machine.memory import pinned_space
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, kernel_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic

TOTAL = 2**25  # numbers in the array on the host
SIZES = (2**14, 2**16, 2**18, 2**20, 2**22, 2**24)  # how many of them are wanted
ALONE_SIZES = (2**22, 2**24)  # every eighth, and every second
THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
TAKEN_ALONE_BELOW = 2**17  # as recorded: below, waking the threads takes longer than the work
_LONGEST_STEP = TOTAL // SIZES[0]
_SECTOR = 8  # numbers in 32 bytes, the least that the GPU's memory moves

INPUT_NOTE = "uniform random numbers; whole numbers below 2**24 for the exact check"


@cache
def longest() -> int:
    """Return how many numbers the array has: 2**25, halved until the GPU has memory for six such arrays."""
    n, free = TOTAL, int(cupy().cuda.Device().mem_info[0]) if has_gpu() else sys.maxsize
    while n > SIZES[0] and 6 * 4 * n > free:
        n //= 2
    return n


def total(n_wanted: int) -> int:
    """Return how many numbers the array has of which so many are wanted; tests want few, of a short array.

    >>> total(2**24), total(3), total(0)
    (33554432, 6144, 0)
    """
    return max(n_wanted, min(longest(), _LONGEST_STEP * n_wanted))


def first(n_wanted: int, n: int) -> slice:
    """Say where the wanted numbers are if they lie side by side."""
    return slice(0, n_wanted)


def every(n_wanted: int, n: int) -> slice:
    """Say where the wanted numbers are if they lie a step apart.

    >>> every(3, 12)
    slice(0, 12, 4)
    """
    step = n // n_wanted if n_wanted else 1
    return slice(0, n_wanted * step, step)


def first_reference(x: Any, n_wanted: int) -> Any:
    """Split the array behind the wanted numbers."""
    return array_module(x).split(x, [n_wanted])[0]


def every_reference(x: Any, n_wanted: int) -> Any:
    """Write the array in rows that begin with a wanted number each, and take the first column."""
    if not n_wanted:
        return x
    step = len(x) // n_wanted
    return x[: n_wanted * step].reshape(n_wanted, step)[:, 0]


def picked_reference(x: Any, index: Any) -> Any:
    """Write the array in rows of 64 numbers, and pick by row and column."""
    return x.reshape(-1, 64)[index // 64, index % 64]


# The two orders ---------------------------------------------------------------------------------------------


class Host:
    """The array on the host that is copied from, in pageable and in pinned memory.

    A study's variants get the same array on the GPU, for the check alone: what is timed starts on the host.
    """

    def __init__(self) -> None:
        self.pageable = self.pinned = np.empty(0, np.float32)
        self.index = self.index_pinned = np.empty(0, np.int64)
        self._views: tuple[Any, Any] = (None, None)

    def keep(self, x: np.ndarray, index: np.ndarray | None = None) -> None:
        """Keep what the study's inputs are made of."""
        self.pageable = self.pinned = x
        if index is not None:
            self.index = self.index_pinned = index
        if has_gpu():
            self.pinned = _pinned("whole", x.dtype, TOTAL)[: len(x)]
            self.index_pinned = _pinned("index", self.index.dtype, SIZES[-1])[: len(self.index)]
            assign(self.pinned, x)
            assign(self.index_pinned, self.index)

    def on_gpu(self, out: Any) -> Any:
        """Return CuPy's array over Numba's, made once for each."""
        if self._views[0] is not out:
            self._views = out, cupy().asarray(out)
        return self._views[1]


@cache
def _pinned(purpose: str, dtype: np.dtype, n: int) -> Any:
    """Pin memory, once for each purpose, because pinning takes longer than many copies."""
    return pinned_space().empty_bytes(dtype.itemsize * n).view(dtype)


@cache
def part_on_host(is_pinned: bool) -> Any:
    """Make a buffer on the host for what is taken out, once for all studies."""
    if is_pinned:
        return _pinned("part", np.dtype(np.float32), SIZES[-1])
    made = np.empty(SIZES[-1], np.float32)
    made.fill(0)  # touched, so that no sample pays for its first use
    return made


def copy_first(host: Host, where: Callable[..., slice], is_pinned: bool, *arrays: Any) -> None:
    """Copy the whole array to the GPU, and take the slice there."""
    n_wanted, out = checked(host, *arrays)
    if not n_wanted:
        return
    x_host = host.pinned if is_pinned else host.pageable
    x = cupy().empty(x_host.shape, x_host.dtype)
    x.set(x_host, stream=cupy().cuda.get_current_stream())
    host.on_gpu(out)[...] = x[where(n_wanted, len(x_host))]


def slice_first(
    host: Host, where: Callable[..., slice], is_pinned: bool, n_threads: int, *arrays: Any
) -> None:
    """Take the slice on the host, and copy it to the GPU."""
    n_wanted, out = checked(host, *arrays)
    if not n_wanted:
        return
    x_host = host.pinned if is_pinned else host.pageable
    part = x_host[where(n_wanted, len(x_host))]
    if not part.flags.c_contiguous:
        part, wanted = part_on_host(is_pinned)[:n_wanted], part
        copy_in_threads(wanted, part, n_threads)
    host.on_gpu(out).set(part, stream=cupy().cuda.get_current_stream())


def copy_then_pick(host: Host, is_pinned: bool, *arrays: Any) -> None:
    """Copy the whole array and the index to the GPU, and pick there."""
    index, out = checked(host, *arrays)
    if not len(out):
        return
    cp, stream = cupy(), cupy().cuda.get_current_stream()
    x_host = host.pinned if is_pinned else host.pageable
    x, index = cp.empty(x_host.shape, x_host.dtype), cp.empty(len(out), np.int64)
    x.set(x_host, stream=stream)
    index.set(host.index_pinned if is_pinned else host.index, stream=stream)
    cp.take(x, index, out=host.on_gpu(out))


def pick_then_copy(host: Host, is_pinned: bool, n_threads: int, *arrays: Any) -> None:
    """Pick on the host, and copy what was picked to the GPU."""
    _, out = checked(host, *arrays)
    if not len(out):
        return
    x_host, part = (
        host.pinned if is_pinned else host.pageable,
        part_on_host(is_pinned)[: len(out)],
    )
    pick_in_threads(x_host, host.index, part, n_threads)
    host.on_gpu(out).set(part, stream=cupy().cuda.get_current_stream())


def checked(host: Host, x: Any, wanted: Any, out: Any) -> tuple[Any, Any]:
    """Check the arrays; return how many numbers are wanted, or their index, and where they go."""
    launch.check(x=x, ndim=1, dtype="float32", shape=host.pageable.shape)
    is_index = not isinstance(wanted, int)
    if is_index:
        launch.check(index=wanted, ndim=1, dtype="int64", shape=host.index.shape)
    launch.check(
        out=out, ndim=1, dtype="float32", shape=host.index.shape if is_index else (wanted,)
    )
    return wanted, out


# On one side alone ------------------------------------------------------------------------------------------


def copy_in_threads(wanted: np.ndarray, out: np.ndarray, n_threads: int) -> None:
    """Copy a strided slice on the CPU, a part on each thread."""

    def some(part: slice) -> None:
        out[part] = wanted[part]

    share_out(some, len(out), n_threads)


def pick_in_threads(x: np.ndarray, index: np.ndarray, out: np.ndarray, n_threads: int) -> None:
    """Pick on the CPU, a part on each thread."""

    def some(part: slice) -> None:
        # With a mode other than "raise", take writes to out without a buffer between.
        np.take(x, index[part], out=out[part], mode="clip")

    share_out(some, len(out), n_threads)


def share_out(some: Callable[[slice], None], n: int, n_threads: int) -> None:
    """Give each thread a part of n numbers, or one thread all of them if they are few."""
    if n_threads == 1 or n < TAKEN_ALONE_BELOW:
        some(slice(n))
        return
    step = -(-n // n_threads)
    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(some, [slice(at, at + step) for at in range(0, n, step)]))


def every_numpy(n_threads: int, x: np.ndarray, n_wanted: int, out: np.ndarray) -> None:
    """Copy x[::step] with NumPy."""
    copy_in_threads(x[every(n_wanted, len(x))], out, n_threads)


def every_cupy(x: Any, n_wanted: int, out: Any) -> None:
    """Copy x[::step] with CuPy."""
    out[...] = x[every(n_wanted, len(x))]


def picked_numpy(n_threads: int, x: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
    """Pick x[index] with NumPy."""
    pick_in_threads(x, index, out, n_threads)


def picked_cupy(x: Any, index: Any, out: Any) -> None:
    """Pick x[index] with CuPy."""
    cupy().take(x, index, out=out)


def sectors(n_wanted: int) -> int:
    """Count the pieces of 32 bytes in which the wanted numbers lie.

    >>> sectors(2**24), sectors(2**22), sectors(2**20)
    (4194304, 4194304, 1048576)
    """
    return min(n_wanted, -(-total(n_wanted) // _SECTOR))


def every_traffic(n_wanted: int, dtype: Any) -> Traffic:
    """Count what memory moves for a strided slice: whole sectors are read, the slice is written."""
    itemsize = np.dtype(dtype).itemsize
    return Traffic(
        bytes_read=_SECTOR * itemsize * sectors(n_wanted), bytes_written=itemsize * n_wanted
    )


# Studies ----------------------------------------------------------------------------------------------------


def _orders(name: str, copy: Any, cut: Any) -> tuple[Variant, ...]:
    """Make the variants of both orders; slicing first on all threads is worth it from pinned memory."""
    options: dict[str, Any] = {"clock": "end_to_end", "simulatable": False}
    made = [
        (f"{name}_copy_first", partial(copy, False), "copying all, pageable"),
        (f"{name}_copy_first_pinned", partial(copy, True), "copying all, pinned"),
        (
            f"{name}_slice_first",
            partial(cut, False, 1),
            "slicing on one thread, pageable",
        ),
        (
            f"{name}_slice_first_pinned",
            partial(cut, True, 1),
            "slicing on one thread, pinned",
        ),
        (
            f"{name}_slice_first_threads",
            partial(cut, True, THREADS),
            "slicing on all threads, pinned",
        ),
    ]
    return tuple(kernel_variant(*each, **options) for each in made)


def study(kernels: Kernels = None) -> Study:
    """Describe both orders for numbers that lie a step apart."""
    host = Host()

    def inputs(
        n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
    ) -> tuple[Any, ...]:
        x = _numbers(total(n), dtype, rng, exact)
        host.keep(x)
        return x, n

    return Study(
        name="strided",
        title="Numbers a step apart, from the host to the GPU",
        variants=(
            *_orders(
                "strided", partial(copy_first, host, every), partial(slice_first, host, every)
            ),
        ),
        sizes=SIZES,
        inputs=inputs,
        reference=every_reference,
        equal=True,
        output=_vector,
        size_name="numbers wanted",
        input_note=INPUT_NOTE,
        baseline="strided_copy_first_pinned",
        kernels=kernels,
    )


def alone_study(kernels: Kernels = None) -> Study:
    """Describe the same slices where the numbers are already: NumPy's on the host, CuPy's on the GPU."""
    on_host: dict[str, Any] = {
        "max_size": ALONE_SIZES[0],
        "max_size_reason": "timed for every eighth number only",
    }
    return Study(
        name="alone",
        title="Numbers a step apart, copied where they are",
        variants=(
            cpu_variant(
                "strided_numpy", partial(every_numpy, 1), "NumPy, one thread", **on_host
            ),
            cpu_variant(
                "strided_numpy_threads",
                partial(every_numpy, THREADS),
                "NumPy, all threads",
                THREADS,
                **on_host,
            ),
            cupy_variant(
                "strided_cupy",
                every_cupy,
                "CuPy, on the GPU already",
                traffic=every_traffic,
                work={"sectors": sectors},
            ),
        ),
        sizes=ALONE_SIZES,
        inputs=lambda n, dtype, rng, exact: (_numbers(total(n), dtype, rng, exact), n),
        reference=every_reference,
        equal=True,
        output=_vector,
        size_name="numbers wanted",
        input_note=INPUT_NOTE,
        baseline="strided_numpy",
        kernels=kernels,
    )


def picked_study(kernels: Kernels = None) -> Study:
    """Describe both orders for numbers picked by an index, and the picking on one side alone."""
    host = Host()

    def inputs(
        n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
    ) -> tuple[Any, ...]:
        x = _numbers(total(n), dtype, rng, exact)
        index = whole_numbers(rng, n, max(1, len(x)))
        host.keep(x, index)
        return x, index

    return Study(
        name="picked",
        title="Numbers picked by an index, from the host to the GPU",
        variants=(
            *_orders("picked", partial(copy_then_pick, host), partial(pick_then_copy, host)),
            cpu_variant("picked_numpy", partial(picked_numpy, 1), "NumPy, one thread"),
            cpu_variant(
                "picked_numpy_threads",
                partial(picked_numpy, THREADS),
                "NumPy, all threads",
                THREADS,
            ),
            cupy_variant("picked_cupy", picked_cupy, "CuPy, on the GPU already"),
        ),
        sizes=(2**22,),
        inputs=inputs,
        reference=picked_reference,
        equal=True,
        output=_vector,
        size_name="numbers wanted",
        input_note=f"{INPUT_NOTE}; places in random order, some more than once",
        baseline="picked_copy_first_pinned",
        kernels=kernels,
    )


def block_study(kernels: Kernels = None) -> Study:
    """Describe both orders for numbers that lie side by side, which no side has to gather."""
    host = Host()

    def inputs(
        n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
    ) -> tuple[Any, ...]:
        x = _numbers(total(n), dtype, rng, exact)
        host.keep(x)
        return x, n

    orders = _orders(
        "block", partial(copy_first, host, first), partial(slice_first, host, first)
    )
    return Study(
        name="block",
        title="Numbers side by side, from the host to the GPU",
        variants=orders[:-1],
        sizes=(2**22,),
        inputs=inputs,
        reference=first_reference,
        equal=True,
        output=_vector,
        size_name="numbers wanted",
        input_note=INPUT_NOTE,
        baseline="block_copy_first_pinned",
        kernels=kernels,
    )


def _vector(n: int, dtype: Any) -> tuple[tuple[int, ...], np.dtype]:
    return (n,), np.dtype(dtype)


def _numbers(n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool) -> np.ndarray:
    return whole_numbers(rng, n, 2**24, dtype) if exact else uniform(rng, n, dtype)
