"""Counts in a kernel's PTX what works on floats of 32 bits, what on 64, and what turns one into the other."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

# A predicate such as @!%p1 may stand before an instruction; labels and directives are passed over.
_OPCODE = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.\w+)*)\s", re.MULTILINE)
_MOVES = ("ld", "st", "mov", "atom", "red", "shfl")


@dataclass(frozen=True)
class FloatInstructions:
    """Instructions of PTX, as they are written: those of a loop count once.

    Attributes
    ----------
    float32, float64 : int
        Arithmetic and comparisons, by the type that they work on.
    conversions : int
        From float32 to float64 or back.
    """

    float32: int
    float64: int
    conversions: int


def float_instructions(ptx: str) -> FloatInstructions:
    r"""Count the instructions of a kernel that work on floats.

    Parameters
    ----------
    ptx : str
        What ``kernel.inspect_asm()`` holds for one signature.

    Returns
    -------
    FloatInstructions
        Loads, stores and moves left out.

    Examples
    --------
    >>> ptx = "\tcvt.f64.f32 %fd1, %f1;\n\tmul.f64 %fd2, %fd1, %fd1;\n\tst.global.f64 [%rd1], %fd2;"
    >>> float_instructions(ptx)
    FloatInstructions(float32=0, float64=1, conversions=1)
    """
    counts = Counter(_kind(opcode) for opcode in _OPCODE.findall(ptx))
    return FloatInstructions(counts["float32"], counts["float64"], counts["conversion"])


def _kind(opcode: str) -> str:
    name, *types = opcode.split(".")
    if name in _MOVES:
        return "move"
    if name == "cvt":
        return "conversion" if {"f32", "f64"} <= set(types) else "other"
    return "float64" if "f64" in types else "float32" if "f32" in types else "other"
