"""Decides whether a sentence holds for what was measured, and notes the figures that decided it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuguide.errors import ArgumentError, GpuGuideError
from gpuguide.results.records import ClaimResult, Measurement
from gpuguide.results.results import Results
from gpuguide.results.units import format_interval, format_quantity, format_size

__all__ = ["Figure", "Witness", "decide"]


@dataclass(frozen=True)
class Figure:
    """One figure that a claim looked at.

    Attributes
    ----------
    name : str
        What it is: ``"four: device time at 2^28"``.
    value : float
        In `unit`.
    low, high : float or None
        Its interval.
    unit : str
        Base unit, or empty.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        if not self.unit:
            return f"{self.name} {self.value:.4g}"
        shown = format_quantity(self.value, self.unit, self.low, self.high)
        if self.low is None or self.high is None:
            return f"{self.name} {shown}"
        return f"{self.name} {shown} ({format_interval(self.value, self.unit, self.low, self.high)})"


@dataclass
class Witness:
    """Stands in for results while a claim is decided, and notes what is asked of them.

    Parameters
    ----------
    results : Results
        What answers.
    figures : list of Figure
        Filled as the predicate asks.
    variants : list of str
        Names of the variants that it asks about, in that order.
    """

    results: Results
    figures: list[Figure] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        """Pass everything on; note the answers of methods."""
        value = getattr(self.results, name)
        if not callable(value):
            return value

        def ask(*args: Any, **kwargs: Any) -> Any:
            answer = value(*args, **kwargs)
            self._note(name, [*args, *kwargs.values()], answer)
            return answer

        return ask

    def _note(self, name: str, args: list[Any], answer: Any) -> None:
        known = {info.name for info in self.results.variants}
        asked = [arg for arg in args if isinstance(arg, str) and arg in known]
        self.variants += [arg for arg in asked if arg not in self.variants]
        listed = ", ".join(format_size(arg) if isinstance(arg, int) else str(arg) for arg in args)
        if isinstance(answer, Measurement):
            if answer.n:
                self.figures.append(self._time(answer))
        elif isinstance(answer, float):
            self.figures.append(Figure(f"{name}({listed})", answer, unit="share" if name == "share" else ""))
        elif hasattr(answer, "low") and hasattr(answer, "high"):
            unit = getattr(answer, "unit", "ratio")
            self.figures.append(Figure(f"{name}({listed})", answer.value, answer.low, answer.high, unit))
        if name == "speedup":
            self._note_both_times(args)

    def _note_both_times(self, args: list[Any]) -> None:
        size = next(arg for arg in args if isinstance(arg, int))
        cells = [self.results.measurement(arg, size) for arg in args if isinstance(arg, str)][:2]
        self.figures += [self._time(cell) for cell in cells if cell.n]

    def _time(self, cell: Measurement) -> Figure:
        low, high = cell.interval_s
        where = f"{cell.variant}: {cell.clock} time at {format_size(cell.size)}"
        return Figure(where, cell.median_s, low, high, "s")


def decide(
    text: str, results: Results | Sequence[Results], predicate: Callable[..., bool]
) -> tuple[ClaimResult, tuple[Figure, ...]]:
    """Ask a predicate whether a sentence holds.

    Parameters
    ----------
    text : str
        The sentence.
    results : Results or sequence of Results
        What it is about; the predicate gets one argument for each.
    predicate : callable
        Returns True or False from interval ends: ``lambda r: r.speedup("four", "one", 2**28).low > 1``.

    Returns
    -------
    ClaimResult
        ``holds`` is None where the results do not hold what the predicate asks for. Where it holds, it is
        decided again with the samples of the first two variants swapped that the predicate asked about.
    tuple of Figure
        The figures that it looked at.

    Raises
    ------
    ArgumentError
        An argument is of the wrong type, or the predicate returns no bool.
    """
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError(f"claim: text must be a sentence; got {text!r}.")
    given = [results] if isinstance(results, Results) else results
    if not isinstance(given, Sequence) or not given or not all(isinstance(r, Results) for r in given):
        raise ArgumentError(
            f"claim {text!r}: results must be Results, or a sequence of them; got {results!r}."
        )
    if not callable(predicate):
        raise ArgumentError(
            f"claim {text!r}: predicate must be a callable of the results; got {predicate!r}."
        )
    figures: list[Figure] = []
    witnesses = [Witness(r, figures) for r in given]
    holds = _ask(text, witnesses, predicate)
    deciding = next((figure for figure in figures if figure.low is not None), None)
    low, high, unit = (deciding.low, deciding.high, deciding.unit) if deciding else (None, None, "")
    swapped = _swapped(text, witnesses, predicate) if holds else None
    return ClaimResult(text, holds, low, high, unit, swapped), tuple(figures)


def _ask(text: str, witnesses: list[Witness], predicate: Callable[..., bool]) -> bool | None:
    try:
        holds = predicate(*witnesses)
    except GpuGuideError:
        whole = [witness.results for witness in witnesses if not witness.results.quick]
        if len(whole) == len(witnesses) and all(cell.n for r in whole for cell in r.measurements):
            raise  # nothing is missing: the predicate asks for what no run could have
        return None
    # A NumPy bool is one too; anything else was probably meant to be compared with something.
    if type(holds).__name__ not in ("bool", "bool_"):
        raise ArgumentError(
            f"claim {text!r}: the predicate must return True or False; got {holds!r}. "
            "Compare an end of the interval: r.speedup(a, b, size).low > 1."
        )
    return bool(holds)


def _swapped(text: str, witnesses: list[Witness], predicate: Callable[..., bool]) -> bool | None:
    """Say whether it holds as well where two variants have each other's samples; None: it compares no two."""
    given = [witness.results for witness in witnesses]
    answers = []
    for i, witness in enumerate(witnesses):
        if len(witness.variants) > 1:
            other = witness.results.swap_samples(*witness.variants[:2])
            answers.append(_ask(text, [Witness(r) for r in (*given[:i], other, *given[i + 1 :])], predicate))
    return all(answers) if answers else None
