"""Six clocks that are wrong in one way each, beside the right one; each gives one reading."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from numba import cuda

from gpuguide.measure.clocks import GpuClock
from gpuguide.measure.timing import DeviceTimer

Call = Callable[[], Any]


def without_waiting(call: Call, gpu: GpuClock) -> float:
    """Read the host's clock before and after a hundred calls, and do not wait for them.

    Parameters
    ----------
    call : callable
        Launches work on the current stream.
    gpu : GpuClock
        What waits for the work that was there before.

    Returns
    -------
    float
        Seconds a call.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(synchronize=lambda: None)  # a GPU that has nothing to do
    >>> 0 <= without_waiting(lambda: None, idle) < 1
    True
    """
    gpu.synchronize()
    start = perf_counter()
    # Fewer than the queue holds: when it is full, a launch waits for the GPU.
    for _ in range(100):
        call()
    return (perf_counter() - start) / 100


def ten_calls(call: Call, gpu: GpuClock) -> float:
    """Average over ten calls and wait for them; the first one may have to compile.

    Parameters
    ----------
    call, gpu
        As for `without_waiting`.

    Returns
    -------
    float
        Seconds a call.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(synchronize=lambda: None)  # a GPU that has nothing to do
    >>> 0 <= ten_calls(lambda: None, idle) < 1
    True
    """
    gpu.synchronize()
    start = perf_counter()
    for _ in range(10):
        call()
    gpu.synchronize()
    return (perf_counter() - start) / 10


def one_reading(call: Call, gpu: GpuClock) -> float:
    """Read the host's clock around one call and the wait for it. Once.

    Parameters
    ----------
    call, gpu
        As for `without_waiting`.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(synchronize=lambda: None)  # a GPU that has nothing to do
    >>> 0 <= one_reading(lambda: None, idle) < 1
    True
    """
    gpu.synchronize()
    start = perf_counter()
    call()
    gpu.synchronize()
    return perf_counter() - start


def device_time(before: Call, call: Call, gpu: GpuClock) -> float:
    """Time one call by events behind a delay, right after `before`, which is not timed.

    Parameters
    ----------
    before : callable
        Leaves the cache and the data as the call is to find them.
    call, gpu
        As for `without_waiting`.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> from gpuguide.errors import NoGpuError
    >>> from gpuguide.measure.turns import gpu_clock
    >>> try:
    ...     gpu = gpu_clock()
    ...     seconds = device_time(gpu.flush, gpu.empty, gpu)
    ... except NoGpuError:
    ...     seconds = 0.0
    >>> 0 <= seconds < 1
    True
    """
    return DeviceTimer(gpu, call, reset=before).sample() / 1e9


def on_the_same_arrays(call: Call, gpu: GpuClock) -> float:
    """Time a call right after the same call: the cache holds what it needs.

    Parameters
    ----------
    call, gpu
        As for `without_waiting`.

    Returns
    -------
    float
        Seconds.
    """
    return device_time(call, call, gpu)


def after_a_memset(call: Call, gpu: GpuClock, scratch: Any) -> float:
    """Time a call whose data was driven out of the cache by writing zeros.

    Parameters
    ----------
    call, gpu
        As for `without_waiting`.
    scratch : cupy.ndarray
        Twice as large as the cache; overwritten.

    Returns
    -------
    float
        Seconds.
    """
    return device_time(lambda: scratch.fill(0), call, gpu)


def on_what_was_left(call: Call, gpu: GpuClock) -> float:
    """Time a call from a cold cache, on the data that the call before has left.

    Parameters
    ----------
    call, gpu
        As for `without_waiting`.

    Returns
    -------
    float
        Seconds.
    """
    return device_time(gpu.flush, call, gpu)


def compile_alone(kernel: Any, signature: str) -> float:
    """Read the host's clock around the compilation of a fresh copy of a kernel.

    Parameters
    ----------
    kernel : numba dispatcher
        Made by ``cuda.jit``; its function is compiled again.
    signature : str
        Types of its arguments.

    Returns
    -------
    float
        Seconds.
    """
    fresh = cuda.jit(kernel.py_func)
    start = perf_counter()
    fresh.compile(signature)
    return perf_counter() - start
