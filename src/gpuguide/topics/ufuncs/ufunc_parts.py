"""What a call of a GPU ufunc is made of: compiler, copies, launch and work, each timed apart."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cuda
from gpuguide.machine.device import require_gpu
from gpuguide.measure.session import current
from gpuguide.measure.turns import whole_turns
from gpuguide.topics.ufuncs.kernels import SIGNATURES, gpu_ufunc, larger

Seconds = dict[str, list[float]]
# Much longer than a launch keeps the host, so that a call that waits stands out.
BUSY_NS = 2_000_000


def fresh_ufunc() -> Any:
    """Make a GPU ufunc whose kernel is not compiled yet."""
    from numba import vectorize

    return vectorize(SIGNATURES, target="cuda")(larger)


def first_call_parts(a_host: np.ndarray, b_host: np.ndarray, n_turns: int = 5) -> Seconds:
    """Time the first call of fresh ufuncs on NumPy arrays, and the compiling of others, in turns.

    One of each comes first and is not counted.

    Parameters
    ----------
    a_host, b_host : ndarray of float32, shape (n,)
        In host memory.
    n_turns : int
        How many samples of each.

    Returns
    -------
    dict of str to list of float
        ``"whole"``: seconds of a first call. ``"compile"``: seconds of compiling a ufunc's kernel.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_turns` is below 1.
    """
    _check(n_turns)
    device = [cuda.to_device(x) for x in (a_host, b_host, np.empty_like(a_host))]

    def turn() -> dict[str, float]:
        # Two, because a compiled kernel is kept with its ufunc, and both clocks want a compilation.
        whole, other = fresh_ufunc(), fresh_ufunc()
        (kernel,) = (kernel for _, kernel in other.functions.values())
        marks = [perf_counter()]
        whole(a_host, b_host)
        marks.append(perf_counter())
        kernel.specialize(*device)
        marks.append(perf_counter())
        return _between(marks, ("whole", "compile"))

    return whole_turns(turn, n_turns)


def later_call_parts(a_host: np.ndarray, b_host: np.ndarray, n_turns: int = 10) -> Seconds:
    """Time later calls on NumPy arrays, and their parts step by step, in turns.

    One turn comes first and is not counted.

    Parameters
    ----------
    a_host, b_host : ndarray of float32, shape (n,)
        In host memory.
    n_turns : int
        How many samples of each.

    Returns
    -------
    dict of str to list of float
        Seconds. ``"whole"``: a call. ``"there"``: memory on the GPU, and both inputs copied into it.
        ``"work"``: the call on arrays that lie there, launch included. ``"back"``: the result copied into a
        new NumPy array.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_turns` is below 1.
    """
    _check(n_turns)
    ufunc = gpu_ufunc()

    def turn() -> dict[str, float]:
        marks = [perf_counter()]
        ufunc(a_host, b_host)
        marks.append(perf_counter())
        a, b = cuda.to_device(a_host), cuda.to_device(b_host)
        out = cuda.device_array(a.shape, a.dtype)
        marks.append(perf_counter())
        ufunc(a, b, out=out)
        cuda.synchronize()
        marks.append(perf_counter())
        out.copy_to_host()
        marks.append(perf_counter())
        return _between(marks, ("whole", "there", "work", "back"))

    return whole_turns(turn, n_turns)


def host_time_while_busy(call: Callable[[], Any], n_samples: int = 20) -> list[float]:
    """Time how long a call keeps the host while the GPU has other work, for `BUSY_NS` nanoseconds.

    A call that only launches returns at once; one that waits for the stream takes as long as the work.

    Parameters
    ----------
    call : callable
        Puts work into CuPy's current stream.
    n_samples : int
        How many samples to take.

    Returns
    -------
    list of float
        Seconds, one for each sample.

    Raises
    ------
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_samples` is below 1.
    """
    _check(n_samples)
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


def _check(n: int) -> None:
    if n < 1:
        raise ArgumentError(f"Expected at least 1 sample; got {n}.")
    require_gpu()


def _between(marks: list[float], names: tuple[str, ...]) -> dict[str, float]:
    """Return the times between the marks by their names."""
    times = (stop - start for start, stop in pairwise(marks))
    return dict(zip(names, times, strict=True))
