"""Launches: the arrays they take, and the blocks of their grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuguide.errors import ArgumentError

__all__ = ["blocks_1d", "check"]

MAX_THREADS_PER_BLOCK = 1024
# Along x: a limit of CUDA, the same on all its present GPUs.
_MAX_BLOCKS = 2**31 - 1


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
    _check_int("threads_per_block", threads_per_block, 1, MAX_THREADS_PER_BLOCK)
    # CUDA refuses an empty grid; the kernel's own bounds check leaves an empty array alone.
    blocks = max(1, -(-n // threads_per_block))
    if blocks > _MAX_BLOCKS:
        raise ArgumentError(
            f"The grid would have {blocks} blocks along x; CUDA takes at most {_MAX_BLOCKS}. "
            "Use more threads per block, or let each thread loop over several elements."
        )
    return blocks


def _check_int(name: str, value: int, low: int, high: int | None = None) -> None:
    try:
        # NumPy's integers have `__index__`, too; floats have none.
        fits = value.__index__() >= low and (high is None or value.__index__() <= high)
    except AttributeError:
        fits = False
    if not fits or isinstance(value, bool):
        wanted = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{name} must be an integer {wanted}; got {value!r}.")
