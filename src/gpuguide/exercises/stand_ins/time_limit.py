"""A limit for the time that a reader's function may take in this process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TooLongError", "time_limit"]


class TooLongError(BaseException):
    """A reader's function took too long; no ``except Exception`` of its own holds it up."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(f"not ended after {limit}")


@contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise TooLongError where the code inside is, when the time is over.

    Only the main thread can be interrupted, and not on Windows; elsewhere there is no limit.

    Parameters
    ----------
    limit_s : float
        Seconds.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> with time_limit(1):
    ...     print("in time")
    in time
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: Any) -> None:
        raise TooLongError(f"{limit_s:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
