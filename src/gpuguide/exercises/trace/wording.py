"""The sentences of findings: plain, with array, index, line, block and thread."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["count", "element", "joined", "out_of_range", "with_capital", "wraps_around"]


def count(n: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "thread"), count(12, "thread")
    ('1 thread', '12 threads')
    """
    return f"{n} {singular if n == 1 else plural or singular + 's'}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas and an "and".

    Examples
    --------
    >>> joined(["0", "1", "2"])
    '0, 1 and 2'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def element(name: str, index: Sequence[object]) -> str:
    """Return an element as source code writes it."""
    return f"{name}[{', '.join(_part(part) for part in index)}]"


def _part(part: object) -> str:
    if not isinstance(part, slice):
        return str(part)
    ends = f"{'' if part.start is None else part.start}:{'' if part.stop is None else part.stop}"
    return ends if part.step is None else f"{ends}:{part.step}"


def extent(name: str, shape: Sequence[int]) -> str:
    """Say how large an array is."""
    if 0 in shape:
        return f"{name} has no elements"
    if len(shape) > 1:
        return f"{name} has the shape {tuple(shape)}"
    return f"{name} has {count(shape[0], 'element')}, the last of which is {name}[{shape[0] - 1}]"


def out_of_range(doing: str, name: str, index: Sequence[object], shape: Sequence[int], line: int) -> str:
    """Say that an index lies outside an array."""
    return f"{doing} {element(name, index)} in line {line}, but {extent(name, shape)}"


def wraps_around(doing: str, name: str, index: Sequence[object], meant: Sequence[object], line: int) -> str:
    """Say what Numba does with a negative index."""
    return (
        f"{doing} {element(name, index)} in line {line}; Numba silently counts a negative index from the "
        f"end: this is {element(name, meant)}"
    )


def with_capital(sentence: str) -> str:
    """Return a sentence with a capital first letter."""
    return sentence[:1].upper() + sentence[1:]
