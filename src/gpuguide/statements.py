"""What a page says of its results: claims that are checked, and wrong figures that their parts explain.

Both are stated in drawn cells, from what was recorded, so that rewording one needs no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from gpuguide.errors import ArgumentError, ClaimError
from gpuguide.measure.session import Session, current, entered, fact
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.claims import decide
from gpuguide.results.records import ClaimResult, Fact
from gpuguide.results.results import Results

__all__ = ["DrawnPage", "Stated", "claim", "explained"]


@dataclass(frozen=True)
class Stated:
    """What the drawn cells of a page state, besides the recorded facts."""

    facts: dict[str, Fact] = field(default_factory=dict)
    claims: tuple[ClaimResult, ...] = ()


class DrawnPage:
    """Collects what the drawn cells of one page state.

    Parameters
    ----------
    facts : mapping of str to Fact
        Recorded ones.
    ceilings : Ceilings or None
        What the machine can do.
    quick : bool
        Whether the results are those of a toy run, of which no claim need hold.

    Examples
    --------
    >>> page = DrawnPage({}, None)
    >>> with page.collecting():
    ...     made = fact("answer", 42, unit="1")
    >>> page.facts == page.stated().facts == {"answer": made}
    True
    """

    def __init__(self, facts: Mapping[str, Fact], ceilings: Ceilings | None, *, quick: bool = False) -> None:
        self._recorded = frozenset(facts)
        self._session = Session(drawing=True, ceilings=ceilings, quick=quick)
        self._session.facts.update(facts)

    @property
    def facts(self) -> dict[str, Fact]:
        """All facts of the page: the recorded ones, and what its cells have stated so far."""
        return self._session.facts

    def collecting(self) -> AbstractContextManager[Session]:
        """Collect what is stated until the context ends; once for each cell."""
        return entered(self._session)

    def stated(self) -> Stated:
        """Return what the cells have stated so far."""
        new = {name: fact for name, fact in self.facts.items() if name not in self._recorded}
        return Stated(new, tuple(self._session.claims))


def _stating(what: str) -> Session:
    """Return the session that collects it; raise in a recorded cell, whose numbers must not depend on it."""
    session = current()
    if session.recording:
        raise ArgumentError(
            f"{what}: a recorded cell measures, a drawn cell states. Put this into a cell of its own whose "
            "first line is '# draw'; it finds the results by their names, and all facts in `facts`."
        )
    return session


def explained(name: str, parts: Sequence[float], whole: float, *, note: str = "") -> Fact:
    """Keep how much of a wrong figure its parts explain, when each is timed apart.

    A wrong figure counts as explained when the parts add up to 90 to 110 per cent of it. In a drawn cell
    anything else is an error, for such a page cannot be published; elsewhere the share is only printed.

    Parameters
    ----------
    name : str
        Of the fact.
    parts : sequence of float
        Seconds, each at least 0.
    whole : float
        The wrong figure in seconds, above 0.
    note : str
        One sentence, where the name does not say enough.

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
    if not whole > 0 or not all(part >= 0 for part in parts):
        raise ArgumentError(
            f"explained {name!r}: expected seconds, the whole above 0; got {list(parts)} and {whole}."
        )
    share = sum(parts) / whole
    sentence = f"The parts explain {100 * share:.0f} % of the whole."
    if session.drawing and not session.quick and not 0.9 <= share <= 1.1:
        raise ClaimError(
            f"explained {name!r}: {sentence} Expected 90 to 110 %: a part is missing, or one is timed twice."
        )
    print(sentence)
    return fact(name, share, unit="share", note=note)


def claim(text: str, results: Results | Sequence[Results], predicate: Callable[..., bool]) -> None:
    """Say something of results, and have it checked: a claim must hold for the whole interval.

    The sentence is printed with its verdict and the figures that decided. In a drawn cell a claim that fails
    is an error, for such a page cannot be published; elsewhere it only says so.

    Parameters
    ----------
    text : str
        The sentence.
    results : Results or sequence of Results
        What it is about; the predicate gets one argument for each.
    predicate : callable
        Returns True or False from ends of intervals.

    Raises
    ------
    ClaimError
        In a drawn cell: it does not hold; the message has the figures.
    ArgumentError
        An argument is of the wrong type, the predicate returns no bool, or this is a recorded cell.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.records import VariantInfo
    >>> results = gg.Results(name="add", title="Add", size_name="elements", dtype="float32", sizes=(1000,),
    ...     variants=(VariantInfo("one", "One"), VariantInfo("four", "Four")),
    ...     measurements=(gg.Measurement("one", 1000, "device", (6000, 6200), (0, 1)),
    ...                   gg.Measurement("four", 1000, "device", (3000, 3000), (0, 1))))
    >>> claim("Four a thread beat one", results, lambda r: r.speedup("four", "one", 1000).low > 1)
    Four a thread beat one: holds.
        speedup(four, one, 10^3) 2.0× (2.00× to 2.07×)
    ...
    """
    session = _stating(f"claim {text!r}")
    result, figures = decide(text, results, predicate)
    verdict = {True: "holds", False: "does not hold", None: "cannot be decided on these results"}[
        result.holds
    ]
    if session.drawing and not session.quick and not result.holds:
        looked_at = "; ".join(map(str, figures)) or "It looked at no figure"
        raise ClaimError(
            f"{text}: {verdict}. {looked_at}. A claim must hold for the whole interval: "
            "reword it, or measure longer."
        )
    session.add_claim(result)
    print(f"{text}: {verdict}.", *map(str, figures), sep="\n    ")
