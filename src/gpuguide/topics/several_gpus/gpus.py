"""The GPUs that work is shared out among, and what to say where there are too few."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from gpuguide.errors import ArgumentError, BackendError, NoGpuError
from gpuguide.machine.backends import cupy, has_gpu

__all__ = [
    "COUNTS",
    "Gpu",
    "count",
    "cut",
    "lacking",
    "nccl",
    "no_access",
    "shares_of_one",
    "some",
    "wait",
]

COUNTS = {"one": 1, "two": 2, "four": 4}
"""Name of a variant -> how many GPUs it works on."""


class Gpu(NamedTuple):
    """A GPU as a context, in which arrays are made there, and a stream of its own."""

    device: Any
    stream: Any


def count() -> int:
    """Count the GPUs that this process sees; 0 without one."""
    return int(cupy().cuda.runtime.getDeviceCount()) if has_gpu() else 0


def some(n: int) -> tuple[Gpu, ...]:
    """Give the first GPUs, each with a stream that is made once."""
    if n < 1:
        raise ArgumentError(f"n must be at least 1, a number of GPUs; got {n}.")
    if why := lacking(n):
        raise NoGpuError(
            f"This {why}. If the machine has more, see which of them nvidia-smi lists and whether "
            "CUDA_VISIBLE_DEVICES hides some."
        )
    return tuple(_gpu(number) for number in range(n))


def lacking(n: int) -> str:
    """Say what is missing for work on so many GPUs; empty where nothing is, or where there is no GPU."""
    found = count()
    if not found or found >= n:
        return ""
    return f"needs {n} GPUs, and {found} {'is' if found == 1 else 'are'} here"


def shares_of_one(n: int) -> tuple[Gpu, ...]:
    """Give GPU 0 so many times, each time with a stream of its own: what the sharing itself costs."""
    some(1)
    return tuple(_gpu(0, share) for share in range(n))


@cache
def _gpu(number: int, share: int = 0) -> Gpu:
    device = cupy().cuda.Device(number)
    with device:
        return Gpu(device, cupy().cuda.Stream(non_blocking=True))


def wait(gpus: tuple[Gpu, ...]) -> None:
    """Wait until each GPU has done what its stream was asked for."""
    for gpu in gpus:
        gpu.stream.synchronize()


def cut(n: int, gpus: tuple[Gpu, ...]) -> Iterator[tuple[int, int]]:
    """Cut `n` things into runs of about equal length, one for each GPU: begin and end of each."""
    for g in range(len(gpus)):
        yield n * g // len(gpus), n * (g + 1) // len(gpus)


def no_access(n: int) -> str:
    """Say which of the first GPUs cannot read the memory of its neighbour; empty where all can."""
    if count() < n:
        return ""
    can = cupy().cuda.runtime.deviceCanAccessPeer
    for g in range(n - 1):
        for one, other in ((g, g + 1), (g + 1, g)):
            if not can(one, other):
                return f"GPU {one} has no access to the memory of GPU {other}"
    return ""


def nccl() -> Any:
    """Import CuPy's binding of NCCL."""
    try:
        from cupy.cuda import nccl as found
    except ImportError:
        found = None
    if found is None or not found.available:
        raise BackendError(
            "CuPy finds no NCCL, with which GPUs add up arrays. Install it beside CuPy: "
            "pip install nvidia-nccl-cu13 (or -cu12, as CuPy)."
        )
    return found
