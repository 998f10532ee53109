"""Builders of calls: awkward lengths, blocks and grids in a small set that covers them all."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.exercises.model import Call
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.buffers import pattern

__all__ = [
    "BLOCKS",
    "BLOCKS_2D",
    "FAR",
    "FAR_2D",
    "SHAPES",
    "dealt_out",
    "eighths",
    "fortran",
    "in_words",
    "launches_1d",
    "launches_2d",
    "lengths",
    "matrix_in_words",
    "poisoned",
    "strided",
]

BLOCKS = (256, 32, 96, 1)
"""Threads per block: a common choice, a warp, one that is not a power of two, and one.

In this order the longest array does not come in blocks of one thread, of which there would be very many.
"""

FAR = 70_001
"""More elements than an index of 16 bits counts, for launches that only a GPU makes."""

FAR_2D = (1031, 67)
"""Such a matrix, with more rows than a block has threads."""

SHAPES = ((0, 5), (1, 1), (1, 33), (31, 1), (5, 7), (16, 32), (25, 17), (17, 61))
"""Shapes of matrices: without rows, one column, one row; only the smallest is square."""

BLOCKS_2D = ((1, 1), (32, 8), (16, 16), (4, 24))
"""Threads per block in x and y."""

_WARP = 32
Arguments = dict[str, Any]
Build = Callable[..., tuple[Arguments, Arguments]]


def lengths(largest: int = 1031) -> tuple[int, ...]:
    """Return the lengths at which kernels go wrong: around zero, a warp and a block, and a prime.

    Parameters
    ----------
    largest : int
        The last and greatest of them; by default a prime above the 1024 threads that a block can have.

    Returns
    -------
    tuple of int
        In increasing order.

    Examples
    --------
    >>> lengths()
    (0, 1, 31, 32, 33, 255, 256, 257, 1031)
    >>> lengths(67)
    (0, 1, 31, 32, 33, 67)
    """
    awkward = (0, 1, 31, 32, 33, 255, 256, 257)
    return (*(n for n in awkward if n < largest), largest)


def poisoned(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Return an output that has not been written yet: full of NaN, or of the smallest integer.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : numpy dtype
        Its type. Unsigned integers, whose smallest value is a common result, hold the byte 0xA5 instead.

    Returns
    -------
    numpy.ndarray
        A new array.

    Examples
    --------
    >>> poisoned(2, "int16")
    array([-32768, -32768], dtype=int16)
    >>> poisoned((1, 2))
    array([[nan, nan]], dtype=float32)
    """
    array = np.empty(shape, dtype)
    word, bits = pattern(array.dtype, "sentinel")
    array.reshape(-1).view(word)[:] = bits
    return array


def eighths(rng: np.random.Generator, low: int, high: int, shape: Any) -> np.ndarray[Any, Any]:
    """Return random multiples of 1/8 as float32: sums and products of a few are exact in any order.

    An integer type somewhere on their way cuts the fractions off, so it shows. So does half precision, if
    they go beyond 256.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where they come from.
    low, high : int
        The least of them, and the first that is too large.
    shape : int or tuple of int
        How many.

    Returns
    -------
    numpy.ndarray
        A new array.

    Examples
    --------
    >>> eighths(np.random.default_rng(1), -1, 2, 4)
    array([0.375, 0.5  , 1.25 , 1.75 ], dtype=float32)
    """
    numbers: np.ndarray[Any, Any] = rng.integers(8 * low, 8 * high, shape).astype(np.float32)
    return numbers / np.float32(8)


def strided(array: np.ndarray[Any, Any], step: int = 2) -> np.ndarray[Any, Any]:
    """Return a copy whose elements lie `step` places apart along the first axis.

    Parameters
    ----------
    array : numpy.ndarray
        Of at least one dimension.
    step : int
        Distance of neighbours, in elements.

    Returns
    -------
    numpy.ndarray
        A view of a larger array that is poisoned in between.

    Examples
    --------
    >>> strided(np.arange(3, dtype=np.int32)).strides
    (8,)
    """
    wide = poisoned((array.shape[0] * step, *array.shape[1:]), array.dtype)
    view = wide[::step]
    view[...] = array
    return view


def fortran(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy that lies column after column.

    Parameters
    ----------
    array : numpy.ndarray
        Any array; one of fewer than two dimensions looks the same afterwards.

    Returns
    -------
    numpy.ndarray
        In Fortran order.

    Examples
    --------
    >>> fortran(np.zeros((3, 2), np.float32)).strides
    (4, 12)
    """
    return np.array(array, order="F")


def in_words(grid: Sequence[int], block: Sequence[int]) -> str:
    """Say how a kernel is launched.

    Parameters
    ----------
    grid, block : sequence of int
        Blocks per grid and threads per block, x first.

    Returns
    -------
    str
        With x first, as CUDA has it.

    Examples
    --------
    >>> in_words((1,), (32,)), in_words((2, 3), (32, 8))
    ('1 block of 32 threads', '2 x 3 blocks of 32 x 8 threads')
    """
    return f"{_extent(grid, 'block')} of {_extent(block, 'thread')}"


def matrix_in_words(shape: tuple[int, int]) -> str:
    """Say how large a matrix is.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.

    Returns
    -------
    str
        Rows first, as NumPy has it.

    Examples
    --------
    >>> matrix_in_words((1, 33))
    '1 row, 33 columns'
    """
    return f"{_count(shape[0], 'row')}, {_count(shape[1], 'column')}"


def launches_1d(
    build: Build,
    *,
    grids: str = "cover",
    lengths: Iterable[int] = lengths(),
    blocks: Sequence[int] = BLOCKS,
    views: bool = False,
    with_launch: bool = False,
    tolerance: float = 0.0,
    shared_bytes: Callable[[int], int] | int = 0,
    far: int = FAR,
) -> list[Call]:
    """Make the launches of a kernel that works along one axis: cheap ones first, empty arrays last.

    Each length comes once with each kind of grid and each block at least twice, not every length with every
    block, so a whole check takes about a second. One more launch has exactly as many threads as elements, in
    whole warps, unless one of the others has, and a last one is for a GPU alone: it is long.

    Parameters
    ----------
    build : callable
        ``build(n, rng)`` returns the arguments and what they must hold afterwards, both by name.
    grids : str
        ``"cover"``: the grid has a thread for each element, or one block more. ``"any"``: it may also have
        too few threads, for a grid-stride loop.
    lengths : iterable of int
        Values of n.
    blocks : sequence of int
        Threads per block.
    views : bool
        Whether every third launch gets arrays with gaps between their elements.
    with_launch : bool
        Call ``build(n, rng, blocks_per_grid, threads_per_block)`` instead: for results with one value per
        block.
    tolerance : float
        As for `Call`.
    shared_bytes : int or callable
        Dynamic shared memory in bytes; a callable is given the threads per block.
    far : int
        How many elements the launch has that only a GPU makes, in the largest blocks; 0 for no such launch.

    Returns
    -------
    list of Call
        With the same random inputs each time.

    Raises
    ------
    ArgumentError
        `grids` is of no known kind.

    Examples
    --------
    >>> def build(n, rng):
    ...     x = rng.integers(-9, 9, n).astype(np.float32)
    ...     return {"x": x, "out": poisoned(n)}, {"out": x + 1}
    >>> calls = launches_1d(build)
    >>> len(calls), calls[0].label
    (20, 'n = 1, 1 block of 32 threads')
    """
    calls = []
    chosen = list(_cover(list(lengths), blocks, _kinds(grids)))
    if not any(_is_full(*launch) for launch in chosen):
        chosen += [(2 * threads, threads, "equal", False) for threads in _whole_warps(blocks)[:1]]
    chosen += [(far, max(blocks), _kinds(grids)[0], False)] if far else []
    for n, threads, kind, is_third in chosen:
        grid = _grid(n, threads, kind)
        rng = _rng(n, threads, grid)
        arguments, expected = build(n, rng, grid, threads) if with_launch else build(n, rng)
        label = f"n = {n}, {in_words((grid,), (threads,))}"
        if views and is_third:
            arguments, label = _changed(arguments, strided), f"{label}, every second element"
        n_bytes = shared_bytes(threads) if callable(shared_bytes) else shared_bytes
        call = Call(label, (grid,), (threads,), arguments, expected, tolerance, n_bytes)
        calls.append(replace(call, gpu_only=0 < far == n))
    return sorted(calls, key=_cost)


def dealt_out(build: Build, *, spare_turns: int, blocks: Sequence[int] = BLOCKS) -> list[Call]:
    """Make the launches of a grid-stride loop, each limited to an even share of turns and some to spare.

    Parameters
    ----------
    build : callable
        As for `launches_1d`.
    spare_turns : int
        How many turns a thread may make besides one for each of its elements.
    blocks : sequence of int
        Threads per block.

    Returns
    -------
    list of Call
        Those of `launches_1d` with any grid, and one whose 32 threads have up to 65 elements each: a loop of
        some fixed number of turns, or over some first elements, fails in one or another.
    """
    n, threads = 2053, 32
    long = Call(f"n = {n}, {in_words((1,), (threads,))}", (1,), (threads,), *build(n, _rng(n, threads)))
    calls = [*launches_1d(build, grids="any", blocks=blocks), long]
    return [replace(call, loop_turns=_share(call) + spare_turns) for call in sorted(calls, key=_cost)]


def _share(call: Call) -> int:
    """Return the most elements that a thread gets when they are dealt out evenly."""
    n = max(x.size for x in call.arguments.values() if isinstance(x, np.ndarray))
    return -(-n // prod((*call.grid, *call.block)))


def launches_2d(
    build: Build,
    *,
    grids: str = "cover",
    shapes: Iterable[tuple[int, int]] = SHAPES,
    blocks: Sequence[tuple[int, int]] = BLOCKS_2D,
    views: bool = False,
    tolerance: float = 0.0,
) -> list[Call]:
    """Make the launches of a kernel that works on matrices, with x along the columns, one for a GPU alone.

    Parameters
    ----------
    build : callable
        ``build((rows, columns), rng)`` returns the arguments and what they must hold afterwards.
    grids : str
        As for `launches_1d`, along both axes.
    shapes : iterable of tuple
        Rows and columns.
    blocks : sequence of tuple
        Threads per block in x and y.
    views : bool
        Whether every third launch gets its matrices in Fortran order.
    tolerance : float
        As for `Call`.

    Returns
    -------
    list of Call
        With the same random inputs each time.

    Raises
    ------
    ArgumentError
        `grids` is of no known kind.

    Examples
    --------
    >>> def build(shape, rng):
    ...     x = rng.integers(-9, 9, shape).astype(np.float32)
    ...     return {"x": x, "out": poisoned(shape)}, {"out": 2 * x}
    >>> launches_2d(build)[-1].label
    '0 rows, 5 columns, 2 x 2 blocks of 32 x 8 threads'
    """
    calls = []
    far = (FAR_2D, max(blocks, key=prod), _kinds(grids)[0], False)
    for shape, (x, y), kind, is_third in (*_cover(list(shapes), blocks, _kinds(grids)), far):
        rows, columns = shape
        grid = (_grid(columns, x, kind), _grid(rows, y, kind))
        arguments, expected = build(shape, _rng(rows, columns, x, *grid))
        label = f"{matrix_in_words(shape)}, {in_words(grid, (x, y))}"
        if views and is_third:
            arguments, label = _changed(arguments, fortran), f"{label}, in Fortran order"
        call = Call(label, grid, (x, y), arguments, expected, tolerance)
        calls.append(replace(call, gpu_only=shape == FAR_2D))
    return sorted(calls, key=_cost)


def _kinds(grids: str) -> tuple[str, ...]:
    kinds = {"cover": ("equal", "larger"), "any": ("smaller", "equal", "larger")}
    if grids not in kinds:
        raise ArgumentError(f"grids must be one of {', '.join(map(repr, kinds))}; got {grids!r}.")
    return kinds[grids]


def _grid(n: int, threads: int, kind: str) -> int:
    """Return the blocks along one axis, at least one."""
    equal = blocks_1d(n, threads)
    return {"smaller": max(equal // 2, 1), "equal": equal, "larger": equal + 1}[kind]


def _cover(
    sizes: list[Any], blocks: Sequence[Any], kinds: Sequence[str]
) -> Iterator[tuple[Any, Any, str, bool]]:
    """Yield each size once with each kind, in more rounds until each block came twice; mark every third."""
    n_rounds = -(-2 * len(blocks) // max(len(sizes) * len(kinds), 1)) if sizes else 0
    # Blocks rotate over all launches; an extra step per kind gives a size a different block each time.
    step = 0
    for _ in range(n_rounds):
        for turn, kind in enumerate(kinds):
            for size in sizes:
                yield size, blocks[step % len(blocks)], kind, (step + turn) % 3 == 2
                step += 1
            step += len(sizes) % len(blocks) == 0


def _is_full(n: int, threads: int, kind: str, is_third: bool) -> bool:
    whole = threads % _WARP == 0 and n > _WARP
    return whole and not is_third and n == threads * _grid(n, threads, kind)


def _whole_warps(blocks: Sequence[int]) -> list[int]:
    return sorted(threads for threads in blocks if threads % _WARP == 0)


def _changed(arguments: Arguments, change: Callable[[np.ndarray[Any, Any]], Any]) -> Arguments:
    return {
        name: change(value) if isinstance(value, np.ndarray) and value.ndim else value
        for name, value in arguments.items()
    }


def _rng(*numbers: int) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(numbers).encode()))


def _extent(axes: Sequence[int], noun: str) -> str:
    return f"{' x '.join(map(str, axes))} {noun}{'' if prod(axes) == 1 else 's'}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _cost(call: Call) -> tuple[bool, int]:
    """Sort by threads; empty arrays come last, since a mistake is easier to see where there are elements."""
    is_empty = any(isinstance(x, np.ndarray) and x.size == 0 for x in call.arguments.values())
    return is_empty, prod(call.grid) * prod(call.block)
