"""How much memory of the host a reader's function uses at a time, arrays of NumPy included."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MemoryInUse", "memory_in_use"]


class MemoryInUse:
    """What was in use while a function ran.

    Attributes
    ----------
    most : int
        Bytes that were in use at most, beyond those before.
    line : int or None
        Of the reader's file: the one that asked for most of what was in use when somebody looked.
    """

    def __init__(self, source: str, judge: str) -> None:
        self.most = 0
        self.line: int | None = None
        self._source, self._judge = source, judge

    def look(self) -> None:
        """Find the line that asked for most of what is in use now."""
        by_line = Counter[int]()
        # Python's numbers are many pieces of memory, and few places where they were made.
        for made in tracemalloc.take_snapshot().statistics("traceback"):
            theirs = [frame for frame in made.traceback if frame.filename in (self._source, self._judge)]
            if theirs and theirs[-1].filename == self._source:  # the innermost
                by_line[theirs[-1].lineno] += made.size
        self.line = max(by_line, key=lambda line: by_line[line], default=None)


@contextmanager
def memory_in_use(source: str, judge: str, n_frames: int = 1) -> Iterator[MemoryInUse]:
    """Measure the memory that the code inside uses; the judge's own, by its file, is not the reader's.

    >>> import numpy as np
    >>> with memory_in_use("", "") as memory:
    ...     for _ in range(3):
    ...         x = np.ones(1000)
    >>> 16_000 <= memory.most < 20_000
    True
    """
    memory, was_on = MemoryInUse(source, judge), tracemalloc.is_tracing()
    if not was_on:
        tracemalloc.start(n_frames)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield memory
    finally:
        memory.most = tracemalloc.get_traced_memory()[1] - before
        if not was_on:
            tracemalloc.stop()
