"""How long blocks live on a multiprocessor, and how many bytes are on their way to it, by clock stamps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.measure.buffers import first_difference
from gpuguide.topics.launch_sizes.kernels import stamped_kernel
from gpuguide.topics.launch_sizes.maximum import maximum_reference

LOADED_BYTES = 8
"""Bytes that one element makes a thread load: a float32 of each input."""


@dataclass(frozen=True)
class Residency:
    """What a launch looked like from inside, averaged over the multiprocessors.

    Attributes
    ----------
    blocks_per_sm : float
        Blocks that were on a multiprocessor at the same time, on average.
    bytes_in_flight : float
        Bytes that were on their way to a multiprocessor at the same time, on average.
    wait_cycles : float
        Clock cycles from a block's start until its last load had arrived.
    life_cycles : float
        Clock cycles from a block's start until after its stores.
    """

    blocks_per_sm: float
    bytes_in_flight: float
    wait_cycles: float
    life_cycles: float


def measure_residency(
    a: Any, b: Any, out: Any, items_per_thread: int, threads_per_block: int
) -> Residency:
    """Launch the stamped kernel twice, check its result, and read the second launch's stamps.

    Parameters
    ----------
    a, b, out : cupy.ndarray of float32, shape (n,)
        Inputs, and the array that is filled.
    items_per_thread : {1, 2, 4, 8}
        Elements of each thread.
    threads_per_block : int
        1 to 1024.

    Returns
    -------
    Residency
        Averages over all blocks and multiprocessors.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float32 of one length, or do not hold whole blocks of work.
    MismatchError
        The kernel's result is wrong.
    """
    n, width = (
        launch.check(a=a, b=b, out=out, ndim=1, dtype="float32"),
        threads_per_block * items_per_thread,
    )
    if not n or n % width:
        raise ArgumentError(
            f"expected a multiple of {width} elements, {items_per_thread} for each thread; got {n}."
        )
    blocks = n // width
    stamps = cupy().zeros((blocks, 4), dtype=np.int64)
    kernel = stamped_kernel(items_per_thread)
    for _ in range(2):
        kernel((blocks,), (threads_per_block,), (a, b, out, stamps))
    first = first_difference(out, maximum_reference(a, b))
    if first is not None:
        raise MismatchError(f"The element at {first} of the stamped kernel's result is wrong.")
    return residency(stamps.get(), LOADED_BYTES * width)


def residency(stamps: np.ndarray, bytes_per_block: int) -> Residency:
    """Work out averages from the stamps of all blocks of a launch.

    The clocks of two multiprocessors differ, so each is looked at alone: what its blocks spent, added up,
    over the time from its first block's start to its last block's end (Little's law).

    >>> two_at_a_time = np.array([[7, 0, 60, 100], [7, 0, 80, 100], [9, 5, 45, 55]])
    >>> residency(two_at_a_time, 1000)
    Residency(blocks_per_sm=1.5, bytes_in_flight=1100.0, wait_cycles=60.0, life_cycles=83.33333333333333)
    """
    multiprocessor, begin, loaded, end = stamps.T
    if not bool(((begin <= loaded) & (loaded <= end) & (begin < end)).all()):
        raise MismatchError("A block's clock ran backwards: not all blocks left their stamps.")
    names, place = np.unique(multiprocessor, return_inverse=True)
    # Any stamp takes the place of these.
    first = np.full(names.size, np.iinfo(np.int64).max)
    last = np.full(names.size, np.iinfo(np.int64).min)
    np.minimum.at(first, place, begin)
    np.maximum.at(last, place, end)
    span = last - first
    life = np.bincount(place, weights=end - begin) / span
    wait = np.bincount(place, weights=loaded - begin) / span
    return Residency(
        blocks_per_sm=float(life.mean()),
        bytes_in_flight=float(wait.mean() * bytes_per_block),
        wait_cycles=float((loaded - begin).mean()),
        life_cycles=float((end - begin).mean()),
    )
