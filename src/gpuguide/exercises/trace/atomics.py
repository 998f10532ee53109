"""The stand-in for ``cuda.atomic``: every operation returns what the element held before."""

from __future__ import annotations

import operator
from collections.abc import Callable
from sys import _getframe as frame_above
from types import FrameType
from typing import Any

from gpuguide.exercises.trace.arrays import TracedArray
from gpuguide.exercises.trace.events import ATOMIC, EXCHANGE
from gpuguide.exercises.trace.faults import UnsupportedError
from gpuguide.exercises.trace.scalars import described

__all__ = ["Atomic"]

_New = Callable[[Any, Any], Any]


class Atomic:
    """``cuda.atomic``; values are converted to the array's type first, as Numba does."""

    def add(self, array: Any, index: Any, value: Any) -> Any:
        """Add."""
        return _change(array, index, value, operator.add, frame_above(1))

    def sub(self, array: Any, index: Any, value: Any) -> Any:
        """Subtract."""
        return _change(array, index, value, operator.sub, frame_above(1))

    def max(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; NaN stays."""
        return _change(array, index, value, lambda old, new: new if new > old else old, frame_above(1))

    def min(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; NaN stays."""
        return _change(array, index, value, lambda old, new: new if new < old else old, frame_above(1))

    def nanmax(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; a number replaces NaN."""
        return _change(array, index, value, lambda old, new: old if old >= new else new, frame_above(1))

    def nanmin(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; a number replaces NaN."""
        return _change(array, index, value, lambda old, new: old if old <= new else new, frame_above(1))

    def and_(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the bits that both have."""
        return _change(array, index, value, operator.and_, frame_above(1))

    def or_(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the bits that either has."""
        return _change(array, index, value, operator.or_, frame_above(1))

    def xor(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the bits that one of them has."""
        return _change(array, index, value, operator.xor, frame_above(1))

    def inc(self, array: Any, index: Any, value: Any) -> Any:
        """Add 1, from `value` back to 0."""
        return _change(array, index, value, lambda old, top: 0 if old >= top else old + 1, frame_above(1))

    def dec(self, array: Any, index: Any, value: Any) -> Any:
        """Subtract 1, from 0 back to `value`."""
        return _change(
            array, index, value, lambda old, top: top if old == 0 or old > top else old - 1, frame_above(1)
        )

    def exch(self, array: Any, index: Any, value: Any) -> Any:
        """Replace."""
        return _change(array, index, value, lambda old, new: new, frame_above(1), EXCHANGE)

    def cas(self, array: Any, index: Any, old: Any, value: Any) -> Any:
        """Replace what equals `old`."""
        frame = frame_above(1)
        expected = _traced(array).cast(old)
        return _change(array, index, value, lambda held, new: new if held == expected else held, frame)

    def compare_and_swap(self, array: Any, old: Any, value: Any) -> Any:
        """Replace the first element if it equals `old`."""
        frame = frame_above(1)
        expected = _traced(array).cast(old)
        return _change(array, 0, value, lambda held, new: new if held == expected else held, frame)

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(f"cuda.atomic.{name}")


def _change(array: Any, index: Any, value: Any, new: _New, frame: FrameType, kind: int = ATOMIC) -> Any:
    target = _traced(array)
    converted = target.cast(value)
    return target.change(index, lambda old: new(old, converted), frame, kind)


def _traced(array: Any) -> TracedArray:
    if not isinstance(array, TracedArray):
        raise TypeError(f"an atomic operation takes an array, an index and a value, not {described(array)}")
    return array
