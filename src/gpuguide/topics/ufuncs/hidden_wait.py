"""How long a call keeps the host while the GPU has other work: whether it waits."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.machine.device import require_gpu
from gpuguide.measure.session import current

# Much longer than a launch keeps the host, so that a call that waits stands out.
BUSY_NS = 2_000_000


def host_time_while_busy(call: Callable[[], Any], n_samples: int = 20) -> list[float]:
    """Time how long a call keeps the host while the GPU has other work, for `BUSY_NS` nanoseconds.

    A call that only launches returns at once; one that waits for the stream takes as long as the work.
    """
    if n_samples < 1:
        raise ArgumentError(f"Expected at least 1 sample; got {n_samples}.")
    require_gpu()
    gpu = current().machine.gpu
    assert gpu is not None
    samples = []
    with gpu.use():
        call()
        for _ in range(n_samples):
            gpu.synchronize()
            gpu.delay(BUSY_NS)
            start = perf_counter()
            call()
            samples.append(perf_counter() - start)
        gpu.synchronize()
    return samples
