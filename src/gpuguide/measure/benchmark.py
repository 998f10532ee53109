"""`benchmark`: the guide's clocks for any call, without a study."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import simulated
from gpuguide.machine.default_stream import launches_leave_it
from gpuguide.measure.clocks import GpuClock, HostClock
from gpuguide.measure.session import Machine, current
from gpuguide.measure.stopping import median
from gpuguide.measure.timing import (
    Call,
    NoWorkError,
    Samples,
    Timer,
    collect,
    collect_enough,
    device_timer,
    end_to_end_timer,
    host_timer,
    keep_busy,
    launch_timer,
)
from gpuguide.results.benchmark import Benchmark, Timing

__all__ = ["benchmark"]

_FLOOR_SAMPLES = 11
# Many calls in one sample would keep the host busy for longer than the budget.
_SLOW_LAUNCH_NS = 200_000
_SPAN = (
    "The call waits for the GPU, or the host was late: the device time is a span that includes some of the "
    "host's time."
)
_NO_WORK = (
    "The call put no work into CuPy's current stream: it runs on the CPU, or in a stream of its own. So it "
    "has no device time."
)
_NO_GPU = "There is no GPU that CuPy can use here, so the call was timed on the host. See gpuguide doctor."
_SIMULATED = "Numba's simulator stands in for the GPU; these times say nothing about a GPU."


def benchmark(call: Callable[..., Any], *args: Any, budget_s: float = 1.0) -> Benchmark:
    """Time a call with the clocks of this guide: launch, work on the GPU, and end to end.

    Nothing is checked, and the call is repeated on the same arguments, so first make sure that its result is
    right. It is called once or twice to warm up, so no time includes compilation. The device time comes from
    events behind a delay that hides the launch; calls below 50 µs are timed many at once. The
    data stays in the caches from call to call. Without a GPU the host is timed, and the result says so.

    Parameters
    ----------
    call : callable
        What to time: a function, a ufunc, or a kernel of Numba with its grid, ``kernel[blocks, threads]``.
        Its work must go into CuPy's current stream, as CuPy's calls and plain launches of Numba do.
    *args
        Its arguments. Put arrays on the GPU first, unless the times should include the copies.
    budget_s : float
        Seconds that the samples may take, roughly. Even a slow call is made a dozen times.

    Returns
    -------
    Benchmark
        It prints as a table: each clock with its median, the middle half of its samples, and its floor, the
        time of an empty kernel on the same clock. The numbers are ``.device.median_s`` and the like.

    Raises
    ------
    ArgumentError
        `call` cannot be called, or `budget_s` is not a time.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuguide as gg
    >>> found = gg.benchmark(np.sort, np.arange(1000), budget_s=0.1)
    >>> found.name
    'sort'
    """
    if not callable(call):
        raise ArgumentError(
            f"benchmark: expected a callable first, as in gg.benchmark(f, x); got {type(call).__name__}. "
            "Pass f and x, not f(x)."
        )
    # Not `budget_s <= 0`, which NaN would pass.
    if not budget_s > 0:
        raise ArgumentError(f"benchmark: budget_s must be a number of seconds above 0; got {budget_s!r}.")
    machine, bound = current().machine, partial(call, *args) if args else call
    if machine.gpu is None:
        return _on_the_host(_name(call), bound, machine.host, budget_s)
    return _on_the_gpu(_name(call), bound, machine, machine.gpu, budget_s)


def _on_the_host(name: str, call: Call, host: HostClock, budget_s: float) -> Benchmark:
    timer = host_timer(call, host=host)
    samples = collect_enough(timer, host, budget_s=budget_s)
    floor_ns = _floor_ns(host_timer(lambda: None, host=host))
    notes = (_SIMULATED if simulated() else _NO_GPU, *samples.notes)
    return Benchmark(name, "the CPU", host=_timing(samples, floor_ns), notes=notes)


def _on_the_gpu(name: str, call: Call, machine: Machine, gpu: GpuClock, budget_s: float) -> Benchmark:
    host, each_s = machine.host, budget_s / 3
    # The arguments may still be under way in a stream that the clock's own does not wait for.
    gpu.synchronize_all()
    with ExitStack() as moved:
        known_ns, allocates = _warm_up(call, gpu, host, moved)
        end_to_end = end_to_end_timer(call, gpu, host=host, known_ns=known_ns)
        launch = launch_timer(call, gpu, host=host, budget_s=each_s, known_ns=known_ns)
        waited = collect_enough(end_to_end, host, budget_s=each_s)
        launched = collect_enough(launch, host, budget_s=each_s)
        launch_ns = median(launched.ns) / launched.n_calls
        device = _device(call, gpu, host, each_s, allocates=allocates, launch_ns=launch_ns)
    notes = [*waited.notes, *launched.notes]
    if device is None:
        notes.append(_NO_WORK)
    elif device.host_bound:
        notes.append(_SPAN)
    return Benchmark(
        name,
        machine.info.name if machine.info else "the GPU",
        _timing(launched, _floor_ns(launch_timer(gpu.empty, gpu, host=host))),
        device,
        _timing(waited, _floor_ns(end_to_end_timer(gpu.empty, gpu, host=host))),
        notes=tuple(dict.fromkeys(notes)),
    )


def _warm_up(call: Call, gpu: GpuClock, host: HostClock, moved: ExitStack) -> tuple[int, bool]:
    """Call until nothing compiles; return the time of a call with its work, and whether it allocates."""
    with gpu.use():
        # The call that compiles is the one that is watched, so `known_ns` is a plain call's.
        with launches_leave_it(moved):
            call()
            gpu.synchronize()
        start_ns = host.now_ns()
        returned = call()
        gpu.synchronize()
        known_ns = host.now_ns() - start_ns
    # A returned array was most likely allocated by the call, and memory in a graph must not go back to a
    # pool.
    return known_ns, returned is not None


def _device(
    call: Call, gpu: GpuClock, host: HostClock, budget_s: float, *, allocates: bool, launch_ns: float
) -> Timing | None:
    """Time the work on the GPU; None where there is none."""
    keep_busy(gpu, host=host)
    try:
        timer = device_timer(call, gpu, capturable=not allocates, batchable=launch_ns <= _SLOW_LAUNCH_NS)
    except NoWorkError:
        return None
    samples = collect_enough(timer, host, budget_s=budget_s)
    timing = _timing(samples, samples.floor_ns or 0)
    is_nothing = median(samples.ns) / samples.n_calls < (samples.floor_ns or 0) / 2
    return None if is_nothing else timing


def _timing(samples: Samples, floor_ns: float) -> Timing:
    return Timing(samples.ns, samples.n_calls, samples.method, floor_ns / 1e9, samples.host_bound)


def _floor_ns(timer: Timer) -> float:
    samples = collect(timer, _FLOOR_SAMPLES)
    return median(samples.ns) / samples.n_calls


def _name(call: Any) -> str:
    """Name a call: a partial, a kernel of Numba with its grid or without, a kernel of CuPy, or a function."""
    for attribute in ("func", "dispatcher", "py_func"):
        call = getattr(call, attribute, call)
    name = getattr(call, "__name__", "") or getattr(call, "name", "") or type(call).__name__
    return "the call" if name == "<lambda>" else str(name)
