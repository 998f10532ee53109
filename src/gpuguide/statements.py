"""What a page says of its results: claims that are checked, counts, and figures that their parts explain.

All are stated in drawn cells, from what was recorded, so that rewording one needs no GPU.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from gpuguide.errors import ArgumentError, ClaimError
from gpuguide.measure.session import Session, current, entered, fact
from gpuguide.recordings.recording import Stated
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.claims import Claim, Faster, ReachesShare, decide
from gpuguide.results.counters import NOT_COUNTED, Counted, counted_at
from gpuguide.results.findings import Finding
from gpuguide.results.records import Fact
from gpuguide.results.results import Results

__all__ = ["DrawnPage", "claim", "counted", "explained"]

# Characters of a printed line that a page shows without scrolling.
_WIDTH = 88


@dataclass
class _DrawnSession(Session):
    """Keeps a fact as the runs give it, each by itself, and claims as data."""

    runs: Sequence[tuple[str, DrawnPage]] = ()
    by_run: dict[str, tuple[tuple[str, Fact], ...]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add_fact(self, new: Fact) -> Fact:
        of_runs = self._of_runs(new)
        made = super().add_fact(Fact.over_starts(of_runs))
        self.by_run[made.name] = of_runs
        return made

    def _of_runs(self, new: Fact) -> tuple[tuple[str, Fact], ...]:
        stated = [(start, page.facts[new.name]) for start, page in self.runs if new.name in page.facts]
        if not self.runs or new.name not in self.runs[-1][1].facts:
            return (("", new),)
        return tuple(stated)


class DrawnPage:
    """Collects what the drawn cells of one page state."""

    def __init__(
        self,
        facts: Mapping[str, Fact],
        ceilings: Ceilings | None,
        *,
        quick: bool = False,
        runs: Sequence[tuple[str, DrawnPage]] = (),
    ) -> None:
        # The session holds both kinds of facts, and only those that cells state are returned.
        self._session = _DrawnSession(drawing=True, ceilings=ceilings, quick=quick, runs=runs)
        self._session.facts.update(facts)

    @property
    def ceilings(self) -> Ceilings | None:
        """What the machine can do."""
        return self._session.ceilings

    @property
    def facts(self) -> dict[str, Fact]:
        """All facts of the page: the recorded ones, and what its cells have stated so far."""
        return self._session.facts

    def collecting(self) -> AbstractContextManager[Session]:
        """Collect what is stated until the context ends; once for each cell."""
        return entered(self._session)

    def stated(self) -> Stated:
        """Return what the cells have stated so far."""
        session = self._session
        return Stated(dict(session.by_run), tuple(session.claims), tuple(session.findings))


def _stating(what: str) -> Session:
    """Return the session that collects it; raise in a recorded cell, whose numbers must not depend on it."""
    session = current()
    if session.recording:
        raise ArgumentError(
            f"{what}: a recorded cell only measures; claims and facts belong in drawn cells. Put this into a "
            f"cell of its own whose first line is '# draw'; it finds the results by their names, and all "
            f"facts in `facts`."
        )
    return session


def explained(name: str, parts: Sequence[float], whole: float, *, note: str = "") -> Fact:
    """Keep how much of a wrong figure its parts explain, when each is timed apart.

    A wrong figure counts as explained when its parts add up to 90 to 110 per cent of it. In a drawn cell the
    facts are medians over the machine starts, so one odd run does not decide; a share outside 90 to 110 per
    cent is an error there, because such a page cannot be published. Elsewhere the share is only printed.

    Parameters
    ----------
    name : str
        Of the fact.
    parts : sequence of float
        Seconds, each at least 0.
    whole : float
        The wrong figure in seconds, above 0.
    note : str
        One sentence, if the name does not say enough.

    Returns
    -------
    Fact
        The share.

    Raises
    ------
    ClaimError
        In a drawn cell: the parts do not add up.
    ArgumentError
        A part or the whole is not a time, or this is a recorded cell.

    Examples
    --------
    >>> explained("first_call", parts=(0.3, 0.1), whole=0.4).value
    The parts explain 100 % of the whole.
    1.0
    """
    session = _stating(f"explained {name!r}")
    # Not `whole <= 0`, which NaN would pass.
    if not whole > 0 or not all(part >= 0 for part in parts):
        raise ArgumentError(
            f"explained {name!r}: expected seconds, the whole above 0; got {list(parts)} and {whole}."
        )
    made = fact(name, sum(parts) / whole, unit="share", note=note)
    share = float(made.value)
    sentence = f"The parts explain {100 * share:.0f} % of the whole."
    if session.drawing and not session.quick and not 0.9 <= share <= 1.1:
        raise ClaimError(
            f"explained {name!r}: {sentence} Expected 90 to 110 %: a part is missing, or one is timed twice."
        )
    print(sentence)
    return made


def counted(
    name: str,
    counters: Sequence[Counted],
    cell: tuple[str, str, int],
    counter: str,
    *,
    per: float = 1,
    unit: str = "1",
    note: str = "",
) -> Fact:
    """Keep what a hardware counter says of one call, in proportion to something else.

    Parameters
    ----------
    name : str
        Of the fact.
    counters : sequence of Counted
        Of the page's recording; empty until they are read for its present code.
    cell : tuple of str, str and int
        Study, variant and size.
    counter : str
        As in ``.counter(instructions)``.
    per : float
        What the count is divided by, such as the number of warps or of cycles.
    unit : str
        Of the quotient.
    note : str
        One sentence, if the name does not say enough.

    Returns
    -------
    Fact
        The quotient, or the words "not counted yet".

    Raises
    ------
    ArgumentError
        The cell or the counter was not read, though others were.
    """
    if not counters:
        return fact(name, NOT_COUNTED, unit="text", note=note)
    value = counted_at(counters, *cell).value(counter)
    return fact(name, value / per, unit=unit, note=note)


def claim(
    results: Results,
    variant: str,
    *,
    at: int,
    faster_than: str | Sequence[str] = (),
    by: float = 1,
    clock: str | None = None,
    share_at_least: float | None = None,
) -> None:
    """State that a variant is faster than others, or that it comes near its ceiling, and check it.

    The sentence is made from the results' own labels and clocks, and printed with its verdict and the figures
    behind it, each a median over the machine starts. The claim must hold in every run. In a drawn cell, a
    claim that fails, or that holds only in some runs, is an error, because such a page cannot be published;
    elsewhere the verdict is only printed.

    Parameters
    ----------
    results : Results
        What it is about.
    variant : str
        Name of the variant that is faster, or comes near its ceiling.
    at : int
        One of the study's sizes.
    faster_than : str or sequence of str
        Names of the slower variants.
    by : float
        The least factor by which it is faster than each of them.
    clock : str, optional
        The clock that times all of them; by default each variant's own. If the clocks differ, the sentence
        names them.
    share_at_least : float
        Instead of `faster_than`: the least share that a kernel reaches of the ceiling for its own mix of
        reads and writes, 0.95 for 95 %.

    Raises
    ------
    ClaimError
        In a drawn cell: it does not hold, or cannot be decided; the message has the figures.
    UnknownNameError
        There is no such variant, size or clock; the message names the nearest.
    ArgumentError
        The arguments do not fit together, a variant was not measured on this clock, or this is a recorded
        cell.

    Examples
    --------
    >>> from gpuguide.results.sample import sample_results
    >>> claim(sample_results(), "numba", faster_than="numpy", at=2**26, by=100)
    An invented study: Numba is at least 100 times as fast as NumPy on 1 thread at 2^26
    elements (device time against host time): holds.
        speedup over NumPy: 320× (one machine start)
        Numba, device time: 220 µs (one machine start)
        NumPy, host time: 70 ms (one machine start)
    """
    session = _stating("claim")
    if not isinstance(results, Results):
        raise ArgumentError(f"claim: expected Results first; got {results!r}.")
    claimed = _claim(variant, at, faster_than, by, clock, share_at_least)
    verdict = decide(claimed, results)
    holds, figures = verdict.result.holds, [str(figure) for figure in verdict.figures]
    said = {True: "holds", False: "does not hold", None: f"cannot be decided, since {verdict.why}"}[holds]
    sentence = f"{verdict.result.text}: {said}."
    if session.drawing and not session.quick and not holds:
        # The cell's error puts page and line in front.
        raise ClaimError(
            f"{sentence} {'; '.join(figures)}{'. ' if figures else ''}A claim must hold in every "
            "run: claim less, or find out what changed and measure again."
        )
    session.add_claim(verdict.result)
    if isinstance(session, _DrawnSession):
        session.findings.append(Finding.of(results.name, claimed))
    # Nothing is returned: a cell that ends in a claim would show it twice.
    print("\n    ".join([textwrap.fill(sentence, _WIDTH, break_on_hyphens=False), *figures]))


def _claim(
    variant: str,
    at: int,
    faster_than: str | Sequence[str],
    by: float,
    clock: str | None,
    share_at_least: float | None,
) -> Claim:
    """Make a claim of the arguments; refuse them if they state two things, or nothing."""
    if bool(faster_than) == (share_at_least is not None):
        given = "both" if faster_than else "neither"
        raise ArgumentError(f"claim: expected either faster_than or share_at_least; got {given}.")
    if share_at_least is None:
        than = (faster_than,) if isinstance(faster_than, str) else tuple(faster_than)
        return Faster(variant, than, at, by, clock)
    if by != 1 or clock is not None:
        raise ArgumentError("claim: by and clock belong to faster_than; a share has neither.")
    return ReachesShare(variant, at, share_at_least)
