"""Pi by random points that do not fit into memory at once, with its standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isclose, sqrt
from typing import Any
from weakref import ref

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count, shown

# None of its points lies inside: their share is 0.
NONE_INSIDE = (3, 2)
# n, piece; several pieces, a rest, one piece, a piece that is not full, one point at a time. In the last case
# 16 bits cannot count the points of a piece that lie inside.
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
)
# The square of their distance is exactly 1, so they do not lie inside.
ON_THE_CIRCLE = (0.6, 0.8)
OUTSIDE = (0.75, 0.875)


class Coordinates(np.ndarray[Any, Any]):
    """One coordinate of the points of a piece, or an array made of them: `made` lists all of these."""

    made: list[ref[Any]] | None = None

    def of(self, made: list[ref[Any]] | None) -> Coordinates:
        """Note which piece it is of."""
        self.made = made
        if made is not None and self.size > 1:  # not a sum
            made.append(ref(self))
        return self

    def __array_finalize__(self, whole: Any) -> None:
        self.of(getattr(whole, "made", None))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = {key: _plain(value) for key, value in kwargs.items()}
        result = getattr(ufunc, method)(*map(_plain, inputs), **plain)
        if "out" in kwargs:
            return kwargs["out"][0]
        return result.view(Coordinates).of(self.made) if isinstance(result, np.ndarray) else result


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.view(np.ndarray) if isinstance(value, Coordinates) else value


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
        self._made: list[list[ref[Any]]] = []
        self._rng = np.random.default_rng((n, piece))

    def draw(self, m: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Make points; the third, and every fifth from there on, lies on the circle."""
        m = int(m)
        self.asked.append(m)
        if held := _n_alive(self._points[:-1]):
            raise MemoryError(
                f"the points of {count(held, 'earlier piece')} are still held; only those of the last may be"
            )
        # An array that is used again for each piece may have been made of the first one.
        if (held := _n_alive(self._made[:-1])) > 1:
            raise MemoryError(
                f"arrays made of the points of {held} earlier pieces are still held; a number of each will do"
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
        made: list[ref[Any]] = []
        self._made.append(made)
        return x.view(Coordinates).of(made), y.view(Coordinates).of(made)


def _n_alive(pieces: Iterable[Iterable[ref[Any]]]) -> int:
    return sum(any(each() is not None for each in piece) for piece in pieces)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both numbers with those of the points that were drawn."""
    for n, piece in CASES:
        case, points = f"With n = {n} and piece = {piece}", Points(n, piece)
        result, finding = attempt(function, case, points.draw, n, piece)
        finding = finding or _drawn(case, points, n) or _numbers(case, result, points, n)
        if finding is not None:
            yield finding
            return


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
