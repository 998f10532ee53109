"""`benchmark`: the guide's clocks for any call, without a study."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, LaunchError
from gpuguide.machine.backends import cupy, raw_kernel, simulated
from gpuguide.machine.cuda_errors import explain
from gpuguide.machine.default_stream import launches_leave_it
from gpuguide.measure.clocks import DELAY_SOURCE, MAX_DELAY_NS, GpuClock, HostClock
from gpuguide.measure.session import Machine, current
from gpuguide.measure.timing import (
    Call,
    HostTimer,
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
# Two events around nothing can be as far apart as around an empty kernel: 2.9 and 2.7 us on an H200.
_NOTHING_ALONE = 1.5
# Of many calls in one sample the two events are a small part, and nothing takes about no time.
_NOTHING_AMONG_MANY = 0.5
_LATE = (
    f"The host's part of the call takes longer than the GPU can be held up, {MAX_DELAY_NS / 1e6:g} ms, so "
    "events would time the host, too: there is no device time."
)
_NO_WORK = (
    "The call runs on the CPU, or in a stream of its own: it put no work into CuPy's current stream, or "
    "hardly more than an empty kernel. So it has no device time."
)
_WAITS = (
    "The call waits for the GPU itself, so launch and work cannot be told apart: its time is the host's, end "
    "to end."
)
_NO_GPU = "There is no GPU that CuPy can use here, so the call was timed on the host. See gpuguide doctor."
_SIMULATED = "Numba's simulator stands in for the GPU; these times say nothing about a GPU."


def benchmark(call: Callable[..., Any], *args: Any, budget_s: float = 1.0) -> Benchmark:
    """Time a call with the clocks of this guide: launch, work on the GPU, and end to end.

    Nothing is checked, and the call is repeated on the same arguments, so first make sure that its result is
    right. It is called once or twice to warm up, so no time includes compilation. The device time comes from
    events behind a delay that hides the launch; calls below 50 µs are timed many at once. The
    data stays in the caches from call to call. A call that waits for the GPU itself has one time, end to end.
    Without a GPU the host is timed. The result says so in both cases.

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
        `call` cannot be called, `budget_s` is not a time, or a ``RawKernel`` would misread a Python float.
    LaunchError
        A launch of the call cannot start, or a kernel was stopped by the GPU. The message says why.

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
    _refuse_doubles(call, args)
    bound = partial(call, *args) if args else call
    try:
        machine = current().machine
        if machine.gpu is None:
            return _on_the_host(_name(call), bound, machine.host, budget_s)
        return _on_the_gpu(_name(call), bound, machine, machine.gpu, budget_s)
    except Exception as error:  # CUDA's errors have a class of their own in each library
        if explained := explain(error):
            raise LaunchError(explained) from error
        raise


def _refuse_doubles(kernel: Any, args: tuple[Any, ...]) -> None:
    """Raise if a kernel in CUDA C++ would read half of a Python float, because it declares a float."""
    # CuPy's kernel has `code`, that of this package `source`.
    source, name = getattr(kernel, "code", getattr(kernel, "source", None)), getattr(kernel, "name", "")
    if not isinstance(source, str) or len(args) < 3 or not isinstance(args[2], tuple | list):
        return
    declared = re.search(rf"\b{re.escape(name)}\s*\(([^)]*)\)", source)
    for parameter, value in zip(declared[1].split(",") if declared else (), args[2], strict=False):
        if type(value) is float and re.fullmatch(r"\s*(const\s+)?float\s+(const\s+)?\w+\s*", parameter):
            raise ArgumentError(
                f"benchmark: the kernel {name} expects a float for {parameter.split()[-1]!r}; got the Python "
                f"float {value!r}, which is passed as a double and misread. Pass np.float32({value!r})."
            )


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
        end_to_end = _end_to_end_timer(call, gpu, host, known_ns)
        launch = launch_timer(call, gpu, host=host, budget_s=each_s, known_ns=known_ns)
        waited = collect_enough(end_to_end, host, budget_s=each_s)
        launched = collect_enough(launch, host, budget_s=each_s)
        launch_ns = median(launched.ns) / launched.n_calls
        device, reason = _device(call, gpu, host, each_s, allocates=allocates, launch_ns=launch_ns)
        waits = device is None and _waits(call, gpu, host, max(launched.ns) / launched.n_calls)
    return Benchmark(
        name,
        machine.info.name if machine.info else "the GPU",
        None if waits else _timing(launched, _floor_ns(launch_timer(gpu.empty, gpu, host=host))),
        device,
        _timing(waited, _floor_ns(_end_to_end_timer(gpu.empty, gpu, host))),
        notes=tuple(dict.fromkeys((*waited.notes, *launched.notes, *([_WAITS] if waits else reason)))),
    )


def _end_to_end_timer(call: Call, gpu: GpuClock, host: HostClock, known_ns: int = 0) -> HostTimer:
    """Return a timer that waits for all streams: Numba's ufuncs, for one, do not work in the clock's."""
    timer = end_to_end_timer(call, gpu, host=host, known_ns=known_ns)
    return replace(timer, finish=gpu.synchronize_all)


def _warm_up(call: Call, gpu: GpuClock, host: HostClock, moved: ExitStack) -> tuple[int, bool]:
    """Call until nothing compiles; return the time of a call with its work, and whether it allocates."""
    with gpu.use():
        # The call that compiles is the one that is watched, so `known_ns` is a plain call's.
        with launches_leave_it(moved):
            call()
            gpu.synchronize_all()
        start_ns = host.now_ns()
        returned = call()
        gpu.synchronize_all()
        known_ns = host.now_ns() - start_ns
    # A returned array was most likely allocated by the call, and memory in a graph must not go back to a
    # pool.
    return known_ns, returned is not None


def _device(
    call: Call, gpu: GpuClock, host: HostClock, budget_s: float, *, allocates: bool, launch_ns: float
) -> tuple[Timing | None, tuple[str, ...]]:
    """Time the work on the GPU; None, and why, where its time is not seen."""
    keep_busy(gpu, host=host)
    try:
        timer = device_timer(call, gpu, capturable=not allocates, batchable=launch_ns <= _SLOW_LAUNCH_NS)
    except NoWorkError:
        return None, (_NO_WORK,)
    samples = collect_enough(timer, host, budget_s=budget_s)
    if samples.host_bound:
        return None, (_LATE,)
    floor_ns = samples.floor_ns or 0
    nothing_ns = floor_ns * (_NOTHING_ALONE if samples.n_calls == 1 else _NOTHING_AMONG_MANY)
    if median(samples.ns) / samples.n_calls < nothing_ns:
        return None, (_NO_WORK,)
    return _timing(samples, floor_ns), ()


def _waits(call: Call, gpu: GpuClock, host: HostClock, free_ns: float) -> bool:
    """Hold the GPU up, twice; say whether that holds up the call, which otherwise takes `free_ns` at most."""
    # At least a quarter of the call's time, because a long call varies by more than one delay.
    n_delays = 1 + int(free_ns / (4 * MAX_DELAY_NS))
    held_ns = min(_held_up_ns(call, gpu, host, n_delays) for _ in range(2))
    return held_ns > free_ns + n_delays * MAX_DELAY_NS / 2


def _held_up_ns(call: Call, gpu: GpuClock, host: HostClock, n_delays: int) -> int:
    with gpu.use():
        for _ in range(n_delays):
            # First, because it compiles when it is first launched.
            _hold_up_default_stream()
            gpu.delay(MAX_DELAY_NS)
        start_ns = host.now_ns()
        call()
        held_ns = host.now_ns() - start_ns
        gpu.synchronize_all()
    return held_ns


_delay = raw_kernel(DELAY_SOURCE, "delay")


def _hold_up_default_stream() -> None:
    """Delay what Numba launches for itself, in ``cuda.reduce`` and ufuncs, and streams that wait for it."""
    with cupy().cuda.Stream.null:
        _delay((1,), (1,), (np.uint64(MAX_DELAY_NS),))


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
