"""Compares what an array holds with what it should: the first wrong element, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gpuguide.exercises.simulator.findings import Finding, element
from gpuguide.exercises.simulator.memory import c_steps
from gpuguide.exercises.simulator.number_rules import shown

__all__ = ["first_changed", "first_wrong", "same"]


def first_wrong(
    name: str,
    shape: tuple[int, ...],
    got: Sequence[Any],
    expected: Sequence[Any],
    *,
    tolerance: float,
    cast: Callable[[Any], Any],
    is_untouched: Callable[[int], bool],
) -> Finding | None:
    """Find the first element that is not what it should be."""
    differs = _differing(tolerance, cast)
    pairs = enumerate(zip(got, expected, strict=True))
    # NaN is also what an element holds that nobody has written to yet.
    wrong = [
        place for place, pair in pairs if differs(*pair) or (math.isnan(pair[0]) and is_untouched(place))
    ]
    if not wrong:
        return None
    place = wrong[0]
    index = _index(place, shape)
    came = ", but nothing was written there" if is_untouched(place) else f" and is {shown(got[place])}"
    are = "is" if len(wrong) == 1 else "are"
    of_all = f"; {len(wrong)} of {len(got)} elements {are} wrong" if len(got) > 1 else ""
    message = f"{element(name, index)} should be {shown(expected[place])}{came}{of_all}."
    return Finding("wrong", message, array=name, index=index)


def _differing(tolerance: float, cast: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    """Return what says whether two values differ; NaN equals NaN, and infinity itself."""

    def differs(got: Any, expected: Any) -> bool:
        if math.isnan(got) and math.isnan(expected):
            return False
        if tolerance:
            return bool(got != expected and not abs(float(got) - float(expected)) <= tolerance)
        return bool(got != cast(expected))

    return differs


def first_changed(
    name: str, shape: tuple[int, ...], old: Sequence[Any], new: Sequence[Any]
) -> Finding | None:
    """Find the first element of an input that was changed; inputs must stay as they are, bit for bit."""
    for place, (before, after) in enumerate(zip(old, new, strict=True)):
        if not same(before, after):
            index = _index(place, shape)
            message = (
                f"{name} is an input, but the kernel changed it: {element(name, index)} was "
                f"{shown(before)} and is {shown(after)} now."
            )
            return Finding("input_changed", message, array=name, index=index)
    return None


def same(a: Any, b: Any) -> bool:
    """Say whether two values have the same bits, as far as they can be told apart."""
    if a is b:
        return True
    if isinstance(a, float):
        return bool(
            (a == b and math.copysign(1, a) == math.copysign(1, b)) or (math.isnan(a) and math.isnan(b))
        )
    return bool(a == b)


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of an element by its place in C order."""
    return tuple(place // step % extent for step, extent in zip(c_steps(shape), shape, strict=True))
