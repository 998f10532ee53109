"""What the fields of a record take: declared as metadata, checked when built and by the codec when read."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable
from typing import Any

from gpuguide.errors import ArgumentError

__all__ = ["SIGNED", "at_least", "check_fields", "one_of", "refuse_twice"]


def one_of(*choices: str) -> dict[str, Any]:
    """Return the metadata of a text field that takes only these words.

    Parameters
    ----------
    *choices : str
        The words.

    Returns
    -------
    dict
        For ``dataclasses.field(metadata=...)``; the codec refuses other words too.

    Examples
    --------
    >>> one_of("warm", "cold")
    {'choices': ('warm', 'cold')}
    """
    return {"choices": choices}


def at_least(minimum: float) -> dict[str, Any]:
    """Return the metadata of a number field whose least value is not 0.

    Parameters
    ----------
    minimum : float
        The least value.

    Returns
    -------
    dict
        For ``dataclasses.field(metadata=...)``; the codec refuses less too.

    Examples
    --------
    >>> at_least(1)
    {'minimum': 1}
    """
    return {"minimum": minimum}


SIGNED = at_least(-(2.0**63))
"""Metadata of a number field that may be negative."""


def check_fields(record: Any) -> None:
    """Check the fields of a record against their metadata, when it is built.

    Parameters
    ----------
    record : dataclass
        Numbers, alone or in a tuple, must be finite and at least 0, or what `at_least` says.

    Raises
    ------
    ArgumentError
        If a field holds a word or a number that it does not take.

    Examples
    --------
    >>> from gpuguide.records import Traffic
    >>> Traffic(bytes_read=-8)
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Traffic.bytes_read: expected at least 0; got -8.
    """
    for item in dataclasses.fields(record):
        value, name = getattr(record, item.name), f"{type(record).__name__}.{item.name}"
        choices = item.metadata.get("choices")
        if choices and value not in choices:
            raise ArgumentError(f"{name}: expected one of {', '.join(choices)}; got {value!r}.")
        minimum = item.metadata.get("minimum", 0)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not math.isfinite(number):
                raise ArgumentError(f"{name}: expected a finite number; got {number!r}.")
            if isinstance(number, int | float) and number < minimum:
                raise ArgumentError(f"{name}: expected at least {minimum:g}; got {number!r}.")


def refuse_twice(owner: str, kind: str, names: Iterable[Hashable]) -> None:
    """Check that nothing is named twice.

    Parameters
    ----------
    owner, kind : str
        Whose names they are and what they name, for the message.
    names : iterable
        The names.

    Raises
    ------
    ArgumentError
        If one stands twice.

    Examples
    --------
    >>> refuse_twice("Ceilings", "mix", ["read", "copy", "read"])
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Ceilings: expected each mix once; got 'read' again.
    """
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(f"{owner}: expected each {kind} once; got {name!r} again.")
        seen.add(name)
