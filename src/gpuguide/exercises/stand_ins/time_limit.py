"""A limit for the time that a reader's function may take in this process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TooLongError", "give_time", "time_limit"]


class TooLongError(BaseException):
    """A reader's function took too long; no ``except Exception`` of its own holds it up."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(f"not ended after {limit}")


@contextmanager
def time_limit(limit_s: float, call_s: float = 0) -> Iterator[None]:
    """Raise TooLongError where the code inside is, when the time is over.

    `call_s` limits the processor's time until the next `give_time`; 0 does not.

    Only the main thread can be interrupted, and not on Windows; elsewhere there is no limit.

    >>> with time_limit(1):
    ...     print("in time")
    in time
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ended(after_s: float) -> Callable[..., None]:
        def end(*_: Any) -> None:
            raise TooLongError(f"{after_s:g} s")

        return end

    before = signal.signal(signal.SIGALRM, ended(limit_s)), signal.signal(signal.SIGPROF, ended(call_s))
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    signal.setitimer(signal.ITIMER_PROF, call_s, call_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])


def give_time() -> None:
    """Let the time of a call begin anew, if there is a limit for it.

    >>> give_time()
    """
    _, call_s = signal.getitimer(signal.ITIMER_PROF) if hasattr(signal, "getitimer") else (0, 0)
    if call_s:
        signal.setitimer(signal.ITIMER_PROF, call_s, call_s)
