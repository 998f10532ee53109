"""How far a run of pages has come: a bar on a terminal, with the time left; nothing elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["RunBar"]


class RunBar:
    """Counts the cells of all studies of a run, a variant at a size each."""

    def __init__(
        self, total: int, most_s: float = math.inf, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self.done, self._now = total, 0, now
        self._begin = now()
        self._end = self._begin + most_s

    def skip(self, cells: int) -> None:
        """Take cells away that are not measured."""
        self.total -= cells

    @property
    def left(self) -> str:
        """The time left, if the rest takes as long as what is done, and no longer than it may."""
        if not self.done:
            return ""
        now = self._now()
        seconds = (now - self._begin) * (self.total - self.done) / self.done
        seconds = max(0.0, min(seconds, self._end - now))
        return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"

    @contextmanager
    def study(self, title: str) -> Iterator[Callable[[int, str], None]]:
        """Show the bar while a study runs; tables are printed between two of them."""
        if not sys.stderr.isatty():
            yield self._count
            return
        # Imported here: without a terminal nobody sees a bar.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
        # What is printed may go to a file, and not to where the bar is.
        with Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as bar:
            task = bar.add_task(title, total=self.total, completed=self.done, left=self.left)

            def advance(cells: int, words: str) -> None:
                self._count(cells, words)
                bar.update(task, completed=self.done, description=f"{title}: {words}", left=self.left)

            yield advance

    def _count(self, cells: int, words: str) -> None:
        self.done += cells
