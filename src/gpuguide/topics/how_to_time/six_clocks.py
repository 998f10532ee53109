"""Clocks for a GPU as people use them, each a few lines: some time the work, some time other things."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy
from gpuguide.measure.session import current
from gpuguide.measure.timing import time_device

Call = Callable[[], Any]


def without_synchronising(call: Call, synchronize: Call, n_samples: int = 50) -> list[float]:
    """Read the host's clock before and after a hundred calls, and do not wait for them.

    Parameters
    ----------
    call : callable
        Launches work on the GPU.
    synchronize : callable
        Waits for the GPU; used between samples, outside the clock.
    n_samples : int
        How many samples to take.

    Returns
    -------
    list of float
        Seconds a call, one for each sample.

    Examples
    --------
    >>> len(without_synchronising(lambda: None, lambda: None, n_samples=3))
    3
    """
    check_samples(n_samples)
    samples = []
    for _ in range(n_samples):
        synchronize()
        start = perf_counter()
        # Fewer than the queue holds: when it is full, a launch waits for the GPU.
        for _ in range(100):
            call()
        samples.append((perf_counter() - start) / 100)
    synchronize()
    return samples


def with_synchronising(call: Call, synchronize: Call, n_samples: int = 50) -> list[float]:
    """Read the host's clock, call, wait for the GPU, and read the clock again.

    Parameters
    ----------
    call, synchronize, n_samples
        As for `without_synchronising`.

    Returns
    -------
    list of float
        Seconds a call, one for each sample.

    Examples
    --------
    >>> len(with_synchronising(lambda: None, lambda: None, n_samples=3))
    3
    """
    check_samples(n_samples)
    samples = []
    for _ in range(n_samples):
        synchronize()
        start = perf_counter()
        call()
        synchronize()
        samples.append(perf_counter() - start)
    return samples


def with_the_first_call(
    make_call: Callable[[], Call], synchronize: Call, n_samples: int = 5
) -> list[float]:
    """Average over five calls of a kernel that was never called, as a loop without warm-up does.

    Parameters
    ----------
    make_call : callable
        Returns a call of a kernel that is not compiled yet.
    synchronize : callable
        Waits for the GPU.
    n_samples : int
        How many samples to take, each of a fresh kernel.

    Returns
    -------
    list of float
        Seconds a call, one for each sample.

    Examples
    --------
    >>> len(with_the_first_call(lambda: lambda: None, lambda: None, n_samples=3))
    3
    """
    check_samples(n_samples)
    samples = []
    for _ in range(n_samples):
        call = make_call()
        synchronize()
        start = perf_counter()
        for _ in range(5):
            call()
        synchronize()
        samples.append((perf_counter() - start) / 5)
    return samples


def events_around_a_launch(call: Call, n_samples: int = 50) -> list[float]:
    """Put a CUDA event before and after a bare call, and ask the GPU for the time between them.

    Parameters
    ----------
    call : callable
        Launches work on CuPy's current stream.
    n_samples : int
        How many samples to take.

    Returns
    -------
    list of float
        Seconds a call, one for each sample.

    Raises
    ------
    BackendError
        CuPy is missing.
    """
    check_samples(n_samples)
    cuda = cupy().cuda
    start, stop = cuda.Event(), cuda.Event()
    samples = []
    for _ in range(n_samples):
        cuda.get_current_stream().synchronize()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        samples.append(cuda.get_elapsed_time(start, stop) / 1000)  # CUDA gives milliseconds
    return samples


def behind_a_delay(call: Call, n_samples: int = 50) -> list[float]:
    """Use the guide's own clock: the GPU is kept busy while the host queues the work to be timed.

    Parameters
    ----------
    call : callable
        Launches work on CuPy's current stream.
    n_samples : int
        How many samples to take.

    Returns
    -------
    list of float
        Seconds a call, one for each sample.

    Raises
    ------
    ArgumentError
        There is no GPU here.
    """
    check_samples(n_samples)
    gpu = current().machine.gpu
    if gpu is None:
        raise ArgumentError(
            "behind_a_delay needs a GPU; without one read the recorded times of the page."
        )
    return list(time_device(call, gpu, n_samples=n_samples).seconds)


def check_samples(n_samples: int) -> None:
    """Say so if there is no sample to take."""
    if n_samples < 1:
        raise ArgumentError(f"n_samples must be at least 1; got {n_samples}.")
