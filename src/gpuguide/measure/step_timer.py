"""A timer of named steps that add up, for programs that use the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class StepTimer:
    """Adds up the time of named steps; a name may be used again, and steps may lie inside each other.

    Every moment counts for the innermost open step, so the steps never overlap and their sum is the time
    spent in all of them.
    """

    def __init__(
        self,
        synchronize: Callable[[], object] = lambda: None,
        now: Callable[[], float] = perf_counter,
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._synchronize, self._now = synchronize, now
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the time of the ``with`` block to a name, new or used before."""
        self._book()
        self._open.append(name)
        try:
            yield
        finally:
            self._book()
            self._open.pop()

    def _book(self) -> None:
        """Add the time since the last begin or end to the innermost open step."""
        self._synchronize()
        now = self._now()
        if self._open:
            name = self._open[-1]
            self.seconds[name] = self.seconds.get(name, 0) + now - self._since
        self._since = now
