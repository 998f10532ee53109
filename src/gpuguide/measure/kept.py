"""Writes down a small array of numbers, so that a page can draw it without a GPU."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.results.arrays import MOST_ARRAY_BYTES, KeptArray

__all__ = ["bytes_of", "written_down"]

_KINDS = "biufc"  # booleans, integers, floats, complex numbers
_WIDEST = 16
# Below the 10 000 characters that a recording takes for one text.
_CHARACTERS_A_LINE = 8_000  # a multiple of 4: each line is base64 of its own


def written_down(array: Any) -> KeptArray:
    """Write an array down; raises ArgumentError where it does not hold plain numbers, or too many.

    >>> written_down(np.arange(6, dtype="int16").reshape(2, 3))
    KeptArray(dtype='int16', shape=(2, 3), data=('AAABAAIAAwAEAAUA',))
    """
    plain = np.asarray(array)
    # float128 is no wider than complex128, but its bits mean something else on another machine.
    if plain.dtype.kind not in _KINDS or plain.dtype.itemsize > _WIDEST or plain.dtype.name == "float128":
        raise ArgumentError(
            "expected an array of booleans, integers, floats or complex numbers of at most "
            f"{_WIDEST} bytes; got dtype {plain.dtype}."
        )
    if plain.nbytes > MOST_ARRAY_BYTES:
        raise ArgumentError(
            f"expected an array of at most {MOST_ARRAY_BYTES} bytes; got {plain.nbytes}. Take fewer "
            "elements, or a smaller dtype."
        )
    little = np.ascontiguousarray(plain, plain.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    lines = (text[i : i + _CHARACTERS_A_LINE] for i in range(0, len(text), _CHARACTERS_A_LINE))
    return KeptArray(plain.dtype.newbyteorder("=").name, plain.shape, tuple(lines))


def bytes_of(arrays: Iterable[KeptArray]) -> int:
    """Add up the bytes of arrays."""
    return sum(math.prod(each.shape) * np.dtype(each.dtype).itemsize for each in arrays)
