"""The cost of a launch alone, by the guide's own clock: what a clock that does not wait really times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuguide.device import require_gpu
from gpuguide.session import current
from gpuguide.timing import time_launch


def launch_alone(call: Callable[[], Any]) -> list[float]:
    """Time how long the host needs to queue one call.

    Parameters
    ----------
    call : callable
        Launches work and does not wait for it; it has run before.

    Returns
    -------
    list of float
        Seconds a call, one sample for each batch of launches between two synchronisations.

    Raises
    ------
    NoGpuError
        There is no GPU.

    Examples
    --------
    >>> from gpuguide.errors import NoGpuError
    >>> try:
    ...     print(len(launch_alone(lambda: None)) > 0)
    ... except NoGpuError:
    ...     print(True)
    True
    """
    gpu = current().machine.gpu
    if gpu is None:
        require_gpu()
    assert gpu is not None
    with gpu.use():
        samples = time_launch(call, gpu)
    return [ns / samples.n_calls / 1e9 for ns in samples.ns]
