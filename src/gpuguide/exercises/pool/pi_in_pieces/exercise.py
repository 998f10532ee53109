"""Pi by random points that do not fit into memory at once, with its standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isclose, sqrt
from typing import Any
from weakref import ref

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.memory_in_use import MemoryInUse, memory_in_use
from gpuguide.exercises.stand_ins.time_limit import TooLongError

# None of its points lies inside: their share is 0.
NONE_INSIDE = (3, 2)
# n, piece; several pieces, a rest, one piece, a piece that is not full, one point at a time. In the last case
# but one 16 bits cannot count the points of a piece that lie inside.
CASES = (
    (1000, 100),
    (1000, 300),
    (64, 64),
    (50, 64),
    (7, 1),
    (1, 1),
    (1, 100),
    (10_001, 5000),
    (999, 1000),
    NONE_INSIDE,
    (180_007, 120_000),
    # More pieces than a function can call itself.
    (2000, 1),
)
# For the memory in use: the length of a piece, how many pieces a short and a long call have, and how many
# bits it takes to keep something of each point. With three pieces, two are over while one is made.
PIECE, PIECES, LEAST_BITS = 20_000, (3, 13), 0.5
# So many pieces too many that a loop does not end: what a judge stops need not run until its time is over.
ENDLESS = 100
# The square of their distance is exactly 1, so they do not lie inside.
ON_THE_CIRCLE = (0.6, 0.8)
OUTSIDE = (0.75, 0.875)


class Points:
    """Makes points, and notes how many were asked for each time.

    Parameters
    ----------
    n, piece : int
        The case.
    """

    def __init__(self, n: int, piece: int) -> None:
        self.n, self.piece = n, piece
        self.asked: list[int] = []
        self.inside = 0
        self._points: list[tuple[ref[Any], ...]] = []
        self._rng = np.random.default_rng((n, piece))

    def draw(self, m: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Make points; the third, and every fifth from there on, lies on the circle."""
        m = int(m)
        self.asked.append(m)
        if sum(self.asked) > self.n + ENDLESS * self.piece:
            raise TooLongError(f"{len(self.asked)} calls of draw: {self.n} points are wanted, and no more")
        # Those that are gone stay so: with many pieces it would take long to ask for them each time.
        last = self._points[-1:]
        self._points = [p for p in self._points[:-1] if any(each() is not None for each in p)]
        held = len(self._points)
        self._points += last
        if held:
            raise MemoryError(
                f"the points of {count(held, 'earlier piece')} are still held; only those of the last may be"
            )
        if not 0 < m <= self.piece:
            # To ask for none, or for fewer, takes no memory.
            fault = MemoryError if m > 0 else ValueError
            raise fault(f"draw takes 1 to {self.piece} points here; got {m}")
        x, y = self._rng.random(m), self._rng.random(m)
        x[2::5], y[2::5] = ON_THE_CIRCLE
        if (self.n, self.piece) == NONE_INSIDE:
            x[:], y[:] = OUTSIDE
        self.inside += int(np.count_nonzero(x**2 + y**2 < 1))
        self._points.append((ref(x), ref(y)))
        return x, y


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both numbers with those of the points that were drawn."""
    for n, piece in CASES:
        case, points = f"With n = {n} and piece = {piece}", Points(n, piece)
        result, finding = attempt(function, case, points.draw, n, piece)
        finding = finding or _drawn(case, points, n) or _numbers(case, result, points, n)
        if finding is not None:
            yield finding
            return
    # Another thread of the session may ask for memory, too, but hardly both times.
    if _kept(function) and (finding := _kept(function, n_frames=8)):
        yield finding


def _kept(function: Callable[..., Any], n_frames: int = 1) -> Finding | None:
    """Say if more memory is in use at a time for more pieces: a number of each is all that is needed."""
    most, (few, many) = [], (n_pieces * PIECE for n_pieces in PIECES)
    for n in (few, many):
        points = Points(n, PIECE)
        with memory_in_use(source_of(function), __file__, n_frames) as memory:

            def draw(m: int, points: Points = points, memory: MemoryInUse = memory) -> Any:
                # Where a function keeps Python's numbers, looking takes much longer than running.
                if n_frames > 1 and points.n == many and sum(points.asked) >= points.n - PIECE:
                    memory.look()
                return points.draw(m)

            attempt(function, "", draw, n, PIECE)
        most.append(memory.most)
    more = most[1] - most[0]
    if more * 8 < (many - few) * LEAST_BITS:
        return None
    message = (
        f"With piece = {PIECE} the function uses {more} bytes more for n = {many} than for n = {few}. "
        "It keeps something of each point, and only one piece fits into memory: keep a number of each piece."
    )
    return Finding("memory", message, line=memory.line)


def _drawn(case: str, points: Points, n: int) -> Finding | None:
    if sum(points.asked) != n:
        return Finding("wrong", f"{case}, {n} points must be drawn; it was {sum(points.asked)}.")
    fewest = -(-n // points.piece)
    if len(points.asked) > fewest:
        return Finding(
            "wrong", f"{case}, {count(fewest, 'call')} of draw would do; there were {len(points.asked)}."
        )
    return None


def _numbers(case: str, result: Any, points: Points, n: int) -> Finding | None:
    try:
        estimate, error = (float(each) for each in result)
    except (TypeError, ValueError):
        return Finding("wrong", f"{case} the answer must be two numbers; got {shown(result)}.")
    p = points.inside / n
    wanted = {"estimate": (estimate, 4 * p), "error": (error, 4 * sqrt(p * (1 - p) / n))}
    for name, (got, right) in wanted.items():
        if not isclose(got, right, rel_tol=1e-9, abs_tol=1e-12):
            return Finding("wrong", f"{case} the {name} must be {right:.9g}; got {got:.9g}.")
    return None


EXERCISE = Exercise(
    name="pi_in_pieces",
    title="Pi in pieces",
    level="beginner",
    minutes=15,
    teaches="Add up counts, not averages; an estimate without its error says little.",
    task=FunctionTask(judge=judge, parameters=("draw", "n", "piece")),
    lanes=("simulator",),
    pages=("random_numbers",),
    tags=("random numbers", "memory"),
)
