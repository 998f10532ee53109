"""How many sectors of memory one access of a warp touches: arithmetic, no GPU needed."""

from __future__ import annotations

from math import prod

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.launch import grid_2d, grid_3d

SECTOR_BYTES = 32
WARP = 32


def sectors_per_request(
    shape: tuple[int, ...],
    threads_per_block: tuple[int, ...],
    axes: tuple[int, ...],
    itemsize: int,
) -> float:
    """Count the sectors that a warp's access touches, on average over the warps of a launch.

    Each thread accesses one element. A warp is 32 threads in the order in which a block counts them: x
    first, then y, then z. Its access is one request, and the memory system serves it in sectors of 32
    bytes. The fewest that 32 elements can lie in is their bytes divided by 32.

    Parameters
    ----------
    shape : tuple of int
        Of a C-contiguous array of two or three axes that begins at a sector.
    threads_per_block : tuple of int
        Along x, y and (with three axes) z.
    axes : tuple of int
        Axis of the array along which x, y and z walk.
    itemsize : int
        Bytes of an element: 1, 2, 4, 8, 16 or 32.

    Returns
    -------
    float
        Sectors a request; warps without an element make none.

    Raises
    ------
    ArgumentError
        The arguments do not fit each other.

    Examples
    --------
    >>> sectors_per_request((64, 64), (16, 16), axes=(1, 0), itemsize=8)
    8.0
    >>> sectors_per_request((64, 64), (16, 16), axes=(0, 1), itemsize=8)
    16.0
    """
    _check(shape, threads_per_block, axes, itemsize)
    lengths = tuple(shape[axis] for axis in axes)
    grid = grid_2d if len(shape) == 2 else grid_3d
    # grid_2d and grid_3d take a shape whose last axis is that of x.
    blocks_per_grid = grid(tuple(reversed(lengths)), threads_per_block)  # type: ignore[arg-type]
    strides = tuple(prod(shape[axis + 1 :]) * itemsize for axis in axes)
    offsets = _offsets(lengths, strides, blocks_per_grid, threads_per_block)
    sectors = np.where(offsets < 0, -1, offsets // SECTOR_BYTES)
    return _mean_distinct(sectors)


def _offsets(
    lengths: tuple[int, ...],
    strides: tuple[int, ...],
    blocks_per_grid: tuple[int, ...],
    threads_per_block: tuple[int, ...],
) -> np.ndarray:
    """Return the byte offset of each thread's element, shape (blocks, threads); -1 beyond the array."""
    offsets = np.zeros((prod(blocks_per_grid), prod(threads_per_block)), np.int64)
    inside = np.ones(offsets.shape, bool)
    block, thread = np.ogrid[: offsets.shape[0], : offsets.shape[1]]
    for length, stride, blocks, threads in zip(
        lengths, strides, blocks_per_grid, threads_per_block, strict=True
    ):
        index = block % blocks * threads + thread % threads
        block, thread = block // blocks, thread // threads
        offsets += index * stride
        inside &= index < length
    return np.where(inside, offsets, -1)


def _mean_distinct(sectors: np.ndarray) -> float:
    """Return the mean number of different sectors in each warp that has any."""
    n_blocks, n_threads = sectors.shape
    padded = np.full((n_blocks, -(-n_threads // WARP) * WARP), -1, np.int64)
    padded[:, :n_threads] = sectors
    ordered = np.sort(padded.reshape(-1, WARP), axis=1)
    changes = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    # What lies beyond the array sorts first; it is a value of its own, but no sector.
    distinct = changes + (ordered[:, 0] >= 0)
    touched = ordered[:, -1] >= 0
    return float(distinct[touched].mean()) if touched.any() else 0.0


def _check(
    shape: tuple[int, ...],
    threads_per_block: tuple[int, ...],
    axes: tuple[int, ...],
    itemsize: int,
) -> None:
    if len(shape) not in (2, 3) or sorted(axes) != list(range(len(shape))):
        raise ArgumentError(
            "sectors_per_request expects two or three axes, each once in axes; "
            f"got shape={shape!r}, axes={axes!r}."
        )
    if itemsize not in (1, 2, 4, 8, 16, 32):
        raise ArgumentError(
            f"itemsize must be a power of two from 1 to 32 bytes; got {itemsize!r}."
        )
    if len(threads_per_block) != len(shape):
        raise ArgumentError(
            f"threads_per_block must have {len(shape)} numbers; got {threads_per_block!r}."
        )
