"""Finds work that the host did in the place of the GPU, by other numbers on the way there and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt
from gpuguide.exercises.stand_ins.lines import line_now, source_of
from gpuguide.exercises.stand_ins.watched_arrays import watched

__all__ = ["substitute", "work_on_host"]


def work_on_host(
    function: Callable[..., Any],
    case: str,
    cp: FakeCupy,
    arguments: tuple[Any, ...],
    expected: Callable[..., Any],
    tolerance: float = 1e-5,
    *,
    fetched: bool = True,
) -> Finding | None:
    """Call a function whose result is right once more, and see whether the GPU made that result.

    Each float that is copied to the GPU arrives as another one, and so does each that is fetched. What the
    host worked out, before or after, does not fit these numbers. What is fetched arrives as it is if the host
    may go on with it (`fetched=False`).

    >>> x = np.array([1.0, 2.0])
    >>> work_on_host(lambda cp, x: (2 * cp.asarray(x)).get(), "For x", FakeCupy(), (x,), lambda x: 2 * x)
    >>> print(work_on_host(lambda cp, x: cp.asarray(2 * x).get(), "For x", FakeCupy(), (x,), lambda x: 2 * x))
    For x the host worked out a part of the result itself: all steps belong on the GPU.
    """
    lines, source = list[int | None](), source_of(function)

    def tell(calculation: Any, _: Any) -> None:
        if isinstance(calculation, np.ufunc):
            lines.append(line_now(source))

    cp.arriving = substitute
    other = substitute if fetched else np.copy
    cp.returning = lambda contents: watched(np.asarray(other(contents)), tell)
    given = (watched(each.copy(), tell) if isinstance(each, np.ndarray) else each for each in arguments)
    result, finding = attempt(function, case, cp, *given)
    if finding is not None:  # it is right with the numbers that belong there
        return None
    wanted = other(np.asarray(expected(*map(substitute, arguments))))
    result = np.asarray(result)
    if result.shape == wanted.shape and np.allclose(result, wanted, tolerance, tolerance):
        return None
    belongs = "all steps belong" if fetched else "that belongs"
    message = f"{case} the host worked out a part of the result itself: {belongs} on the GPU."
    return Finding("limit", message, line=lines[0] if lines else None)


def substitute(value: Any) -> Any:
    """Return other numbers for an array of floats, element by element: it may be a part, or reshaped.

    >>> substitute(np.array([0.0, 50.0]))
    array([ 1., 11.])
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return (np.square(value) / 250 + 1).astype(value.dtype)
