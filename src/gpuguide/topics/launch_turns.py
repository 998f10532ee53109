"""Launches of several kinds, timed in turns, because the host has fast and slow phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpuguide.device import require_gpu
from gpuguide.errors import ArgumentError
from gpuguide.plan import generator
from gpuguide.session import current
from gpuguide.timing import launch_timer


def launches_in_turns(
    calls: Mapping[str, Callable[[], Any]], n_turns: int = 20
) -> dict[str, list[float]]:
    """Time the host's part of each call by the guide's launch clock, one sample of each in a turn.

    Parameters
    ----------
    calls : mapping of str to callable
        Each puts work into the current stream and does not wait for it.
    n_turns : int
        How many samples of each; their order is shuffled anew in each turn.

    Returns
    -------
    dict of str to list of float
        Seconds a launch, for the same names.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_turns` is below 1, or there is no call.

    Examples
    --------
    >>> try:
    ...     launches_in_turns({})
    ... except ArgumentError as error:
    ...     print(error)
    launches_in_turns expects at least one call and one turn; got 0 and 20.
    """
    if n_turns < 1 or not calls:
        raise ArgumentError(
            f"launches_in_turns expects at least one call and one turn; got {len(calls)} and {n_turns}."
        )
    machine = current().machine
    if machine.gpu is None:
        require_gpu()
    assert machine.gpu is not None
    order = generator("launches_in_turns", *calls)
    samples: dict[str, list[float]] = {name: [] for name in calls}
    with machine.gpu.use():
        timers = {
            name: launch_timer(call, machine.gpu, host=machine.host)
            for name, call in calls.items()
        }
        for _ in range(n_turns):
            for name in order.permutation(list(timers)):
                timer = timers[str(name)]
                samples[str(name)] += timer.samples([timer.sample()]).seconds
    return samples
