"""Launches: the arrays they take, grids in one to three dimensions, and grid-stride loops."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from gpuguide.errors import ArgumentError

__all__ = ["blocks_1d", "check", "grid_2d", "grid_3d", "grid_stride_blocks"]

MAX_THREADS_PER_BLOCK = 1024
# Along x, y and z: limits of CUDA, the same on all its present GPUs.
_MAX_GRID = (2**31 - 1, 65535, 65535)


def check(
    *,
    ndim: int | None = None,
    dtype: str | Mapping[str, str] | None = None,
    shape: tuple[int, ...] | None = None,
    same_shape: bool = True,
    **arrays: Any,
) -> Any:
    """Check the arrays of a launch on the host, since a kernel cannot raise usefully."""
    first = None
    for name, x in arrays.items():
        try:
            found, kind = x.shape, x.dtype
        except AttributeError:
            raise ArgumentError(
                f"{name} must be an array; got {x!r:.60}. Make it one on the GPU: cupy.asarray({name})."
            ) from None
        wanted = dtype if dtype is None or isinstance(dtype, str) else dtype[name]
        fits = (ndim is None or len(found) == ndim) and (shape is None or found == shape)
        if same_shape and first is not None:
            fits = fits and found == first
        if not fits or (wanted is not None and kind != wanted):
            as_first = same_shape and first is not None
            raise ArgumentError(
                f"{name} must be {_wanted_array(ndim, wanted, first if as_first else shape)}"
                f"{f', as {next(iter(arrays))}' if as_first else ''}; got shape {found}, {kind}."
                + _array_cure(name, len(found), ndim, None if kind == wanted else wanted)
            )
        first = found if first is None else first
    if first is None:
        raise ArgumentError("check expects at least one array, by its name; got none.")
    return first[0] if len(first) == 1 else first


def _wanted_array(ndim: int | None, dtype: str | None, shape: tuple[int, ...] | None) -> str:
    axes = {1: "one-dimensional ", 2: "two-dimensional ", 3: "three-dimensional "}
    kind = f"{dtype} " if dtype else ""
    if shape is not None:
        # "An int32 array", "an array", but "a float32 array".
        return f"{'an' if kind[:1] in ('i', '') else 'a'} {kind}array of shape {shape}"
    return f"a {axes[ndim]}{kind}array" if ndim else f"{'an' if kind[:1] in ('i', '') else 'a'} {kind}array"


def _array_cure(name: str, came: int, ndim: int | None, dtype: str | None) -> str:
    if ndim is not None and came != ndim:
        return f" Use {name}.ravel()." if ndim == 1 else f" Use {name}.reshape with {ndim} lengths."
    return f' Use {name}.astype("{dtype}").' if dtype else ""


def blocks_1d(n: int, threads_per_block: int) -> int:
    """Count the blocks that are needed to give each of `n` elements a thread."""
    _check_int("n", n, 0)
    _check_threads((threads_per_block,))
    return _checked_grid((_ceil_div(n, threads_per_block),))[0]


def grid_2d(shape: tuple[int, int], threads_per_block: tuple[int, int]) -> tuple[int, int]:
    """Count the blocks that cover a matrix, with x along its columns."""
    x, y = _grid(shape, threads_per_block, 2)
    return x, y


def grid_3d(shape: tuple[int, int, int], threads_per_block: tuple[int, int, int]) -> tuple[int, int, int]:
    """Count the blocks that cover a three-dimensional array, with x along its last axis."""
    x, y, z = _grid(shape, threads_per_block, 3)
    return x, y, z


def grid_stride_blocks(n: int, threads_per_block: int, sm_count: int, blocks_per_sm: int) -> int:
    """Count the blocks of a kernel whose threads loop over the data, a whole grid apart."""
    _check_int("n", n, 0)
    _check_threads((threads_per_block,))
    _check_int("sm_count", sm_count, 1)
    _check_int("blocks_per_sm", blocks_per_sm, 1)
    return max(1, min(_ceil_div(n, threads_per_block), sm_count * blocks_per_sm))


def _grid(shape: tuple[int, ...], threads_per_block: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if len(shape) != ndim or len(threads_per_block) != ndim:
        raise ArgumentError(
            f"A {ndim}-D grid needs {ndim} numbers in shape and in threads_per_block; "
            f"got shape={shape!r}, threads_per_block={threads_per_block!r}."
        )
    for axis, length in enumerate(shape):
        _check_int(f"shape[{axis}]", length, 0)
    _check_threads(threads_per_block)
    blocks = (_ceil_div(n, t) for n, t in zip(reversed(shape), threads_per_block, strict=True))
    return _checked_grid(tuple(blocks))


def _checked_grid(blocks: tuple[int, ...]) -> tuple[int, ...]:
    # CUDA refuses an empty grid; the kernel's own bounds check leaves an empty array alone.
    blocks = tuple(max(1, count) for count in blocks)
    for axis, count, most in zip("xyz", blocks, _MAX_GRID, strict=False):
        if count > most:
            raise ArgumentError(
                f"The grid would have {count} blocks along {axis}; CUDA takes at most {most}. "
                "Use more threads per block, or let each thread loop over several elements."
            )
    return blocks


def _check_threads(threads_per_block: tuple[int, ...]) -> None:
    for axis, (count, most) in enumerate(zip(threads_per_block, (1024, 1024, 64), strict=False)):
        name = "threads_per_block" if len(threads_per_block) == 1 else f"threads_per_block[{axis}]"
        _check_int(name, count, 1, most)
    if prod(threads_per_block) > MAX_THREADS_PER_BLOCK:
        raise ArgumentError(
            f"A block holds at most {MAX_THREADS_PER_BLOCK} threads; "
            f"threads_per_block={threads_per_block!r} makes {prod(threads_per_block)}."
        )


def _check_int(name: str, value: int, low: int, high: int | None = None) -> None:
    try:
        # NumPy's integers have `__index__`, too; floats have none.
        fits = value.__index__() >= low and (high is None or value.__index__() <= high)
    except AttributeError:
        fits = False
    if not fits or isinstance(value, bool):
        wanted = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{name} must be an integer {wanted}; got {value!r}.")


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)
