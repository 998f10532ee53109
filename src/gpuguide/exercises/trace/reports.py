"""Sums up what single threads did wrong: one finding per kind, line and array."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable

from gpuguide.exercises.trace.faults import AccessError, EndlessError, Remark, UnsupportedError
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.geometry import Geometry
from gpuguide.exercises.trace.wording import count, with_capital

__all__ = ["ENDS_A_THREAD", "endless_finding", "findings_of", "remark_of"]

#: Kinds of remarks after which the thread does not go on.
ENDS_A_THREAD = frozenset({"exception", "out_of_range", "unsupported"})
#: What a GPU computes silently; Numba checks neither, unless it compiles for debugging.
_SILENT = (ArithmeticError, ValueError)
#: How Numba writes what readers call by its name in CUDA C, or without the module.
_OF_NUMBA = {
    **{name: name for name in ("threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize")},
    **{name: name for name in ("syncthreads", "shared", "local", "atomic", "laneid", "warpsize")},
    "__syncthreads": "syncthreads",
    "atomicAdd": "atomic.add",
    "warpSize": "warpsize",
}


def remark_of(error: Exception, kernel: str, thread: int) -> Remark:
    """Return the remark on a thread that an exception ended.

    Parameters
    ----------
    error : Exception
        What came out of the thread.
    kernel : str
        Name of the kernel, which its frames carry.
    thread : int
        The thread's number.

    Returns
    -------
    Remark
        With the line of the kernel at which it happened.
    """
    line = _line(error, f"<{kernel}>")
    if isinstance(error, AccessError):
        return Remark(error.kind, line, thread, error.what, error.array, error.index)
    if isinstance(error, UnsupportedError):
        return Remark("unsupported", line, thread, str(error))
    return Remark("exception", line, thread, f"fails in line {line}: {_reason(error)}")


def _line(error: Exception, file: str) -> int:
    """Return the innermost line of the kernel's source on the way to an exception."""
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _reason(error: Exception) -> str:
    if isinstance(error, NameError) and hasattr(builtins, error.name or ""):
        return f"{error.name} is not available in a kernel"
    if isinstance(error, NameError) and error.name in _OF_NUMBA:
        return f"{error}; Numba has it as cuda.{_OF_NUMBA[error.name]}"
    if isinstance(error, TypeError | NameError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it calls itself endlessly"
    said = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
    if isinstance(error, _SILENT):
        return f"{said}; a GPU reports nothing and continues with a useless value"
    return said


def findings_of(remarks: Iterable[Remark], geometry: Geometry) -> dict[Finding, tuple[Remark, ...]]:
    """Return one finding per kind, line and array; it describes the lowest thread.

    Parameters
    ----------
    remarks : iterable of Remark
        On all threads, in any order.
    geometry : Geometry
        Of the launch.

    Returns
    -------
    dict of Finding to tuple of Remark
        With all remarks that it sums up, that on the lowest thread first.
    """
    alike: dict[tuple[object, ...], list[Remark]] = defaultdict(list)
    for remark in remarks:
        where = remark.lines or (remark.line,)
        alike[remark.kind, where, remark.array].append(remark)
    return dict(_summed(group, geometry) for group in alike.values())


def _summed(group: list[Remark], geometry: Geometry) -> tuple[Finding, tuple[Remark, ...]]:
    group.sort(key=lambda remark: (remark.thread, remark.index, remark.what))
    first = group[0]
    if first.kind == "unsupported":
        message = (
            f"Line {first.line} uses {first.what}, which this simulator does not have; "
            "the compile lane and a GPU can judge it."
        )
    else:
        message = f"{with_capital(str(geometry.thread_id(first.thread)))} {first.what}."
        message += _how_many(first, len({remark.thread for remark in group}))
    threads = tuple(geometry.thread_id(number) for number in first.threads or (first.thread,))
    line = first.line or None
    return Finding(first.kind, message, line, first.lines, first.array, first.index, threads), tuple(group)


def _how_many(first: Remark, n: int) -> str:
    if n < 2:
        return ""
    return f" The same happens in {count(n - 1, 'more block' if first.states else 'more thread')}."


def endless_finding(endless: EndlessError, step_limit: int) -> Finding:
    """Return the finding on a loop that does not end; it names no thread, since order decides which one."""
    message = (
        f"The loop at line {endless.line} does not end: one thread was stopped there after {step_limit} "
        "steps."
    )
    return Finding("endless", message, line=endless.line)
