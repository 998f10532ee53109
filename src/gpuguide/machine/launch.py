"""Launches: the blocks of their grids."""

from __future__ import annotations

from gpuguide.errors import ArgumentError

__all__ = ["MAX_THREADS_PER_BLOCK", "blocks_1d"]

MAX_THREADS_PER_BLOCK = 1024
# Along x: a limit of CUDA, the same on all its present GPUs.
_MAX_BLOCKS = 2**31 - 1


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
