"""What a page states besides its studies: single facts, wrong figures explained, claims that are checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from gpuguide import claims
from gpuguide.errors import ArgumentError, ClaimError
from gpuguide.facts import Fact
from gpuguide.results import Results
from gpuguide.session import current

__all__ = ["claim", "explained", "fact"]


def fact(
    name: str, value: float | int | str, *, unit: str, samples: Sequence[float] = (), note: str = ""
) -> Fact:
    """Keep one figure that is not part of a sweep, so that the text can show it.

    Parameters
    ----------
    name : str
        Unique on its page; letters, digits, underscores.
    value : float, int or str
        Finite; in base units (seconds, bytes).
    unit : str
        ``"s"``, ``"B/s"``, ``"FLOP/s"``, ``"ratio"``, ``"share"``, ``"B"``, ``"1"``, ``"W"``, ``"Hz"`` or
        ``"text"``.
    samples : sequence of float
        What the value was taken from, in the same unit.
    note : str
        One sentence, where the name does not say enough.

    Returns
    -------
    Fact
        As kept.

    Raises
    ------
    ArgumentError
        Name, value or unit do not fit; or, while recording, the name is taken.

    Examples
    --------
    >>> fact("first_call_s", 0.41, unit="s").value
    0.41
    >>> fact("first_call_s", float("nan"), unit="s")
    Traceback (most recent call last):
        ...
    gpuguide.errors.ArgumentError: fact 'first_call_s': value must be finite; got nan.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"fact: name must be a word of letters, digits and underscores; got {name!r}.")
    plain = value.item() if isinstance(value, np.generic) else value
    taken = tuple(float(sample) for sample in samples)
    for what, numbers in (("value", (plain,)), ("every sample", taken)):
        for number in numbers:
            if isinstance(number, float) and not math.isfinite(number):
                raise ArgumentError(f"fact {name!r}: {what} must be finite; got {number!r}.")
    return current().add_fact(Fact(name, plain, unit, taken, note))


def explained(name: str, parts: Sequence[float], whole: float, *, note: str = "") -> Fact:
    """Keep how much of a wrong figure its parts explain, when each is timed apart.

    A wrong figure counts as explained when the parts add up to 90 to 110 per cent of it. While a page is
    recorded, anything else stops the recording; on another machine the share is only printed.

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
        While recording: the parts do not add up.
    ArgumentError
        A part or the whole is not a time.

    Examples
    --------
    >>> explained("first_call", parts=(0.3, 0.1), whole=0.4).value
    The parts explain 100 % of the whole.
    1.0
    """
    if not whole > 0 or not all(part >= 0 for part in parts):
        raise ArgumentError(
            f"explained {name!r}: expected seconds, the whole above 0; got {list(parts)} and {whole}."
        )
    share = sum(parts) / whole
    sentence = f"The parts explain {100 * share:.0f} % of the whole."
    if current().recording and not 0.9 <= share <= 1.1:
        raise ClaimError(
            f"explained {name!r}: {sentence} Expected 90 to 110 %: a part is missing, or one is timed twice."
        )
    print(sentence)
    return fact(name, share, unit="share", note=note)


def claim(text: str, results: Results | Sequence[Results], predicate: Callable[..., bool]) -> None:
    """Say something of results, and have it checked: a claim must hold for the whole interval.

    The sentence is printed with its verdict and the figures that decided. While a page is recorded a claim
    that fails stops the recording; on another machine it only says so. The session keeps all claims.

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
        While recording: it does not hold; the message has the figures.
    ArgumentError
        An argument is of the wrong type, or the predicate returns no bool.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results import VariantInfo
    >>> results = gg.Results(name="add", title="Add", size_name="elements", dtype="float32", sizes=(1000,),
    ...     variants=(VariantInfo("one", "One"), VariantInfo("four", "Four")),
    ...     measurements=(gg.Measurement("one", 1000, "device", (6000, 6200), (0, 1)),
    ...                   gg.Measurement("four", 1000, "device", (3000, 3000), (0, 1))))
    >>> claim("Four a thread beat one", results, lambda r: r.speedup("four", "one", 1000).low > 1)
    Four a thread beat one: holds.
        speedup(four, one, 10^3) 2.0× (2.00× to 2.07×)
    ...
    """
    session = current()
    result, figures = claims.decide(text, results, predicate)
    verdict = {True: "holds", False: "does not hold", None: "cannot be decided on these results"}[
        result.holds
    ]
    sentence = f"{text}: {verdict}. {'; '.join(map(str, figures)) or 'It looked at no figure'}."
    if session.recording and not result.holds:
        raise ClaimError(
            f"{sentence} A claim must hold for the whole interval: reword it, or measure longer."
        )
    session.add_claim(result)
    print(f"{text}: {verdict}.", *map(str, figures), sep="\n    ")
