"""A scalar product of data from the host: the copy and the work, timed separately."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import (
    attempt,
    count,
    explained,
    is_near,
    is_seconds,
    known_lines,
    lines_text,
    seconds,
    shown,
)
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.timed_regions import clock_mistakes, of_another_kind, regions, used_for
from gpuguide.exercises.stand_ins.virtual_gpu import Costs, Event, VirtualGpu

# Slower than any real machine, so that even small arrays take longer than a launch.
_LINK_IS_SLOW = Costs(link_rate=0.02, staging_rate=0.5, memory_rate=0.1, cache_rate=0.2, wake_up_ns=1_000)
_STAGING_IS_SLOW = Costs(link_rate=0.5, staging_rate=0.05, memory_rate=0.1, cache_rate=0.4, wake_up_ns=1_000)
_WORK_IS_SLOW = Costs(link_rate=0.4, staging_rate=0.2, memory_rate=0.02, cache_rate=0.02, wake_up_ns=1_000)

# Names of the kernels that make a scalar product, by CuPy's functions and operators.
_PRODUCTS = ("dot", "einsum", "inner", "matmul", "tensordot", "vdot")
# The machine in words, its costs, elements, dtype.
CASES = (
    ("a machine whose link is slow", _LINK_IS_SLOW, 50_000, np.float32),
    ("a machine whose host copies slowly", _STAGING_IS_SLOW, 80_000, np.float64),
    ("a machine whose work is slow", _WORK_IS_SLOW, 60_000, np.float32),
)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both figures with those of a correct clock on the same machine."""
    # Once more the first one, for who remembers figures.
    for i, (title, costs, n, dtype) in enumerate((*CASES, CASES[0])):
        is_second = i == len(CASES)
        gpu = VirtualGpu(costs, source_of(function))
        a, b = _vectors(n, dtype)
        copies = a.copy(), b.copy()
        on = "In a second call, on" if is_second else "On"
        case = f"{on} {title}, with {n} values of {np.dtype(dtype)},"
        cp = FakeCupy(gpu)
        result, finding = attempt(function, case, cp, gpu.clock, a, b)
        finding = finding or _not_two_times(case, result)
        finding = finding or unchanged(case, "a", a, copies[0]) or unchanged(case, "b", b, copies[1])
        if finding is None and is_second and not gpu.events("clock"):
            message = "the function did not read the clock: keep no figures from call to call."
            finding = Finding("wrong", f"{case} {message}")
        finding = finding or _not_sent(case, cp, a=a, b=b)
        if finding is not None:
            yield finding
            return
        right = _right_clock(costs, *copies)
        apart = _right_clock(costs, *copies, apart=True)
        if is_near(float(result[0]), apart[0]):
            right = apart
        if found := list(_explain(case, result, right, gpu, 2 * a.nbytes)):
            yield from found
            return


def _vectors(n: int, dtype: type) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    return rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)


def _right_clock(costs: Costs, a: Any, b: Any, *, apart: bool = False) -> tuple[float, float]:
    """Return the true figures, of spans that begin and end with an idle device and call nothing first.

    Apart, the second vector is not sent before the first one has arrived.
    """
    gpu = VirtualGpu(costs)
    cp = FakeCupy(gpu)
    cp.dot(cp.asarray(a), cp.asarray(b))
    gpu.synchronize()
    times = [gpu.clock()]
    a_device, b_device = cp.asarray(a, blocking=apart), cp.asarray(b)
    gpu.synchronize()
    times.append(gpu.clock())
    cp.dot(a_device, b_device)
    gpu.synchronize()
    times.append(gpu.clock())
    return times[1] - times[0], times[2] - times[1]


def _not_two_times(case: str, result: Any) -> Finding | None:
    if isinstance(result, tuple | list) and len(result) == 2 and all(map(is_seconds, result)):
        return None
    return Finding("wrong", f"{case} two numbers of seconds were expected; got {shown(result)}.")


def _not_sent(case: str, cp: FakeCupy, **vectors: Any) -> Finding | None:
    """Say which vector never came to the GPU as it is: whole or in pieces, by itself or with the other."""
    arrived = b"".join(np.asarray(each).tobytes() for each in cp.sent)
    for name, vector in vectors.items():
        if vector.tobytes() not in arrived:
            came = {f"{count(each.size, 'number')} of {each.dtype}" for each in map(np.asarray, cp.sent)}
            what = ", ".join(sorted(came)) or "nothing"
            message = f"{case} {name} must come to the GPU as it is; what came there: {what}."
            copies = cp.gpu.events("to_device")
            return Finding("wrong", message, line=copies[-1].line if copies else None)
    return None


def _explain(
    case: str, result: Any, right: tuple[float, float], gpu: VirtualGpu, nbytes: int
) -> Iterator[Finding]:
    """Say which figure is wrong and what the machine saw."""
    if all(map(is_near, map(float, result), reversed(right))) and not is_near(*right):
        message = f"{case} (copy_s, work_s) was expected, and the two figures came the other way round."
        yield Finding("wrong", message)
        return
    parts = ("copying", "to_device"), ("the work", "launch")
    for (name, kind), figure, true in zip(parts, map(float, result), right, strict=True):
        if is_near(figure, true):
            continue
        message = f"{case} {name} takes {seconds(true)}; the figure is {seconds(figure)}."
        used = used_for(figure, [each for each in regions(gpu) if any(e.kind == kind for e in each.inside)])
        inside = [event for region in used for event in region.inside]
        causes = [*of_another_kind(figure, true), *clock_mistakes(used), *_copies_beside(kind, inside)]
        if not gpu.events("clock"):
            causes = [Finding("wrong", "The function never called clock().")]
        elif not causes and is_near(figure, sum(right)):
            causes = [Finding("wrong", "That is the time of both together: the copies and the work.")]
        yield from explained(message, causes or _other_work(kind, inside, nbytes))


def _copies_beside(kind: str, inside: list[Event]) -> Iterator[Finding]:
    """Say if copies were timed with the work."""
    copies = [event for event in inside if event.kind == "to_device"]
    if kind == "launch" and copies:
        lines = [event.line for event in copies]
        made = f"{count(len(copies), 'copy', 'copies')} to the GPU"
        message = f"{made} ran while this clock ran{lines_text(lines)}."
        yield Finding("wrong", message, line=copies[0].line, lines=known_lines(lines))


def _other_work(kind: str, inside: list[Event], nbytes: int) -> Iterator[Finding]:
    """Say if less than the two vectors was copied or worked on, or by other kernels than one product."""
    timed = [event for event in inside if event.kind == kind]
    moved = sum(event.nbytes for event in timed)
    line = timed[-1].line if timed else None
    if kind == "launch" and not timed:
        yield Finding(
            "wrong", "No product ran on the GPU while this clock ran: cp.dot runs there, np.dot does not."
        )
    elif kind == "to_device" and timed and moved < nbytes:
        message = f"Only {moved} of {nbytes} bytes were copied to the GPU while this clock ran."
        yield Finding("wrong", message, line=line)
    elif kind == "launch" and len(timed) > 1:
        names = " and ".join(dict.fromkeys(event.what for event in timed))
        yield Finding("wrong", f"The product by cp.dot is one kernel; {names} were timed.", line=line)
    elif kind == "launch" and timed[0].name.split()[0] not in _PRODUCTS:
        yield Finding("wrong", f"The product by cp.dot is wanted; {timed[0].what} was timed.", line=line)
    elif kind == "launch" and len(timed[0].buffers) == 2:  # the other one is that of the result
        message = f"{timed[0].what} read one array alone: the product is to be that of a and b."
        yield Finding("wrong", message[0].upper() + message[1:], line=line)
    elif timed and moved < nbytes:
        message = f"{timed[-1].what} read and wrote {moved} bytes; the two vectors have {nbytes}."
        yield Finding("wrong", message[0].upper() + message[1:], line=line)


EXERCISE = Exercise(
    name="copy_and_work",
    title="Copy apart from work",
    level="intermediate",
    minutes=15,
    teaches="Time counts for the step that waits, so wait at the end of each step to separate the parts.",
    task=FunctionTask(judge=judge, parameters=("cp", "clock", "a", "b")),
    lanes=("simulator",),
    pages=("data_where_it_is", "how_to_time", "transfers"),
    tags=("measuring", "copies", "synchronisation", "CuPy"),
)
