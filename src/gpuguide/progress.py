"""A progress bar on stderr, when somebody looks at it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """A bar on stderr when that is a terminal; nothing otherwise, so that no log fills with it.

    Parameters
    ----------
    title : str
        What runs.
    total : int
        Steps.

    Examples
    --------
    >>> with Progress("Add one", 2) as progress:
    ...     progress.advance(2, "1,024 elements")
    """

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total = title, total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def advance(self, steps: int, done: str) -> None:
        """Move on.

        Parameters
        ----------
        steps : int
            How many steps were done.
        done : str
            What was done last.
        """
        if self._bar is not None:
            self._bar.update(self._task, advance=steps, description=f"{self._title}: {done}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
