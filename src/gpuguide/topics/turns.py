"""Readings of several clocks, taken in turns, so that a slow phase of the machine hits all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuguide.clocks import GpuClock
from gpuguide.device import require_gpu
from gpuguide.errors import ArgumentError
from gpuguide.plan import generator
from gpuguide.session import current
from gpuguide.timing import keep_busy


def gpu_clock() -> GpuClock:
    """Return the guide's clock of this GPU: a stream with events, a delay and a flush of the L2 cache.

    Returns
    -------
    GpuClock
        The one that studies use, too.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        There is one, and the current session was told to do without.

    Examples
    --------
    >>> from gpuguide.errors import NoGpuError
    >>> try:
    ...     gpu_clock().synchronize()
    ... except NoGpuError:
    ...     pass
    """
    gpu = current().machine.gpu
    if gpu is None:
        info = require_gpu()
        raise ArgumentError(
            f"This session was given a machine without a GPU; there is a {info.name}."
        )
    return gpu


def in_turns(
    readings: Mapping[str, Callable[[], float]], n_turns: int = 20
) -> dict[str, list[float]]:
    """Take one reading of each clock in a turn, in an order shuffled anew, on the guide's stream.

    Parameters
    ----------
    readings : mapping of str to callable
        Each takes one reading, in seconds. The first of each does not count.
    n_turns : int
        How many readings of each.

    Returns
    -------
    dict of str to list of float
        Seconds, for the same names.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_turns` is below 1, or there is no clock; or as for `gpu_clock`.

    Examples
    --------
    >>> try:
    ...     in_turns({})
    ... except ArgumentError as error:
    ...     print(error)
    in_turns expects at least one clock and one turn; got 0 and 20.
    """
    if n_turns < 1 or not readings:
        raise ArgumentError(
            f"in_turns expects at least one clock and one turn; got {len(readings)} and {n_turns}."
        )
    gpu, order = gpu_clock(), generator("in_turns", *readings)
    samples: dict[str, list[float]] = {name: [] for name in readings}
    with gpu.use():
        for read in readings.values():
            read()
        keep_busy(gpu, host=current().machine.host)
        for _ in range(n_turns):
            for name in order.permutation(list(readings)):
                samples[str(name)].append(readings[str(name)]())
                gpu.synchronize()
    return samples
