"""A clock that does not wait beside the guide's clock of launches: what the first really times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpuguide.batching import MAX_QUEUED_CALLS
from gpuguide.device import require_gpu
from gpuguide.errors import ArgumentError
from gpuguide.session import current
from gpuguide.timing import launch_timer


def beside_launches(
    wrong: Callable[[], float], call: Callable[[], Any], n_turns: int = 10, n_calls: int = 100
) -> tuple[list[float], list[float]]:
    """Take samples of a wrong clock and of the launch alone in turns, so that a slow phase hits both.

    Parameters
    ----------
    wrong : callable
        Returns one sample of the wrong clock, in seconds a call.
    call : callable
        Launches what the wrong clock was meant to time, and does not wait for it.
    n_turns : int
        How many samples of each.
    n_calls : int
        Launches in a sample: as many as the wrong clock makes, at most 256.

    Returns
    -------
    wrong_samples : list of float
        Seconds a call of the wrong clock.
    launch_samples : list of float
        Seconds of queuing the same call.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_turns` or `n_calls` is below 1, or `n_calls` above 256.

    Examples
    --------
    >>> from gpuguide.errors import ArgumentError
    >>> try:
    ...     beside_launches(lambda: 1e-5, lambda: None, n_turns=0)
    ... except ArgumentError as error:
    ...     print(error)
    beside_launches: n_turns must be at least 1; got 0.
    """
    if n_turns < 1:
        raise ArgumentError(f"beside_launches: n_turns must be at least 1; got {n_turns}.")
    if not 1 <= n_calls <= MAX_QUEUED_CALLS:
        raise ArgumentError(
            f"beside_launches: n_calls must be from 1 to {MAX_QUEUED_CALLS}; got {n_calls}."
        )
    gpu = current().machine.gpu
    if gpu is None:
        require_gpu()
    assert gpu is not None
    wrong_samples, launches = [], []
    with gpu.use():  # both on one stream: the default one has a cost of its own
        # As many launches a sample as in the wrong clock: the first few after a wait take longer.
        timer = replace(launch_timer(call, gpu), n_calls=n_calls)
        for _ in range(n_turns):
            wrong_samples.append(wrong())
            gpu.synchronize()
            launches.append(timer.sample())
    return wrong_samples, list(timer.samples(launches).seconds)
