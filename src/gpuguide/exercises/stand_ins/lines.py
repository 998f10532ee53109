"""Where a message points: the line of the reader's code that is running, and names that readers know."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["line_now", "line_of_error", "named", "source_of"]


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of a stand-in bear a reader's name for it: Python's messages show it.

    >>> named("xp.sum", lambda x: x)(2, ddof=1)
    Traceback (most recent call last):
    TypeError: xp.sum() got an unexpected keyword argument 'ddof'
    """
    function.__name__ = function.__qualname__ = name
    return function


def source_of(function: Callable[..., Any]) -> str:
    """Return the name of the file that a function comes from, as its frames carry it.

    >>> source_of(source_of).endswith("lines.py"), source_of(len)
    (True, '')
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    return str(code.co_filename) if code is not None else ""


def line_now(source: str) -> int | None:
    """Return the line of a file that is being executed, in the innermost frame that belongs to it.

    >>> line_now("no such file") is None
    True
    """
    frame = sys._getframe(1) if source else None
    while frame is not None and frame.f_code.co_filename != source:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else None


def line_of_error(error: BaseException, source: str) -> int | None:
    """Return the last line of a file that an exception passed through.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     line_of_error(error, "no such file") is None
    True
    """
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == source]
    return lines[-1] if lines else None
