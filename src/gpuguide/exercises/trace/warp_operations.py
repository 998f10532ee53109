"""What each lane gets from an operation of its warp, once all lanes that take part have arrived."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpuguide.exercises.trace.geometry import WARP_SIZE
from gpuguide.exercises.trace.scalars import SizedInt
from gpuguide.exercises.trace.waits import Wait

__all__ = ["answers", "block_answer"]


def answers(waits: Mapping[int, Wait]) -> dict[int, Any]:
    """Return what each lane gets.

    Parameters
    ----------
    waits : mapping of int to Wait
        One operation, by lane.

    Returns
    -------
    dict of int to object
        By lane. A lane that asks one that does not take part gets a useless value: NaN or the smallest
        integer.
    """
    operation = next(iter(waits.values())).operation
    if operation in _SOURCES:
        return {lane: _shuffled(waits, lane) for lane in waits}
    if operation == "match_any_sync":
        return {lane: _bits(waits, partial(operator.eq, wait.value)) for lane, wait in waits.items()}
    return dict.fromkeys(waits, _VOTES[operation](waits))


#: From the own lane and the argument to the lane that is asked.
_SOURCES: dict[str, Callable[[int, int], int]] = {
    "shfl_sync": lambda lane, source: source % WARP_SIZE,
    "shfl_up_sync": lambda lane, delta: lane - delta,
    "shfl_down_sync": lambda lane, delta: lane + delta,
    "shfl_xor_sync": lambda lane, bits: lane ^ bits,
}


def _shuffled(waits: Mapping[int, Wait], lane: int) -> Any:
    own = waits[lane]
    source = _SOURCES[own.operation](lane, int(own.argument))
    if not 0 <= source < WARP_SIZE:
        return own.value
    return waits[source].value if source in waits else _useless(own.value)


def _useless(value: Any) -> Any:
    if isinstance(value, int):
        return -(2**63)
    return type(value)(np.nan)


def _bits(waits: Mapping[int, Wait], chosen: Callable[[Any], Any]) -> SizedInt:
    """Return one bit per lane as Numba does: a signed integer of 32 bits."""
    mask = sum(1 << lane for lane, wait in waits.items() if chosen(wait.value))
    return SizedInt.of(mask - (mask >> 31 << 32), 32)


def _alike(waits: Mapping[int, Wait], of: Callable[[Any], Any] = lambda value: value) -> bool:
    return len({of(wait.value) for wait in waits.values()}) == 1


_VOTES: dict[str, Callable[[Mapping[int, Wait]], Any]] = {
    "syncwarp": lambda waits: None,
    "all_sync": lambda waits: all(wait.value for wait in waits.values()),
    "any_sync": lambda waits: any(wait.value for wait in waits.values()),
    "eq_sync": lambda waits: _alike(waits, bool),
    "ballot_sync": lambda waits: _bits(waits, bool),
    "match_all_sync": lambda waits: (
        (_bits(waits, lambda value: True), True) if _alike(waits) else (SizedInt.of(0, 32), False)
    ),
}
_BLOCK: dict[str, Callable[[list[bool]], Any]] = {
    "syncthreads": lambda votes: None,
    "syncthreads_count": sum,
    "syncthreads_and": lambda votes: int(all(votes)),
    "syncthreads_or": lambda votes: int(any(votes)),
}


def block_answer(operation: str, waits: Sequence[Wait]) -> Any:
    """Return what the threads of a block get from a barrier that all of them reached."""
    return _BLOCK[operation]([bool(wait.value) for wait in waits])
