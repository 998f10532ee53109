"""What the two recipes, which scramble the bits of a number, must come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine.backends import array_module

ROUNDS = 128
_BITS = 2**32 - 1


def recipes_reference(x: Any, kind: Any, *orders: Any) -> Any:
    """Scramble bit by bit: what a recipe makes of a number is put together from what it makes of its bits.

    Shifts and exclusive ors treat each bit of a number for itself. So each recipe is run on 0 and on the 32
    numbers that have a single bit, and these results are combined.

    >>> x = np.array([1, 1], np.uint32)
    >>> recipes_reference(x, np.array([0, 1], np.int32)).tolist()
    [2144056621, 2429381705]
    """
    first, second = (_from_bits(x, once) for once in (_shift_once, _turn_once))
    return array_module(x).where(kind == 0, first, second)


def _from_bits(x: Any, once: Callable[[int], int]) -> Any:
    zero, *ones = (_scrambled(start, once) for start in (0, *(1 << bit for bit in range(32))))
    out = x * np.uint32(0) + np.uint32(zero)
    for bit, one in enumerate(ones):
        out ^= (x >> np.uint32(bit) & np.uint32(1)) * np.uint32(one ^ zero)
    return out


def _scrambled(v: int, once: Callable[[int], int]) -> int:
    for _ in range(ROUNDS):
        v = once(v)
    return v


def _shift_once(v: int) -> int:
    # Python's integers have no end, so what 32 bits would lose is cut off here.
    v ^= v << 13 & _BITS
    v ^= v >> 17
    return v ^ v << 5 & _BITS


def _turn_once(v: int) -> int:
    v ^= v >> 9 ^ _BITS
    v = v << 7 & _BITS | v >> 25
    return v ^ v >> 11
