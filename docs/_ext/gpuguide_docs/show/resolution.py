"""What a reference stands for: the measured number from the recording, with its spread, size and machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gpuguide.errors import UnknownNameError, unknown
from gpuguide.results.units import REGIONS, format_interval, format_quantity, size_words
from gpuguide_docs.show.references import Reference

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording
    from gpuguide.results.records import Fact, Provenance
    from gpuguide.results.results import Quantity, Results

__all__ = ["Number", "measured_on", "resolve"]


@dataclass(frozen=True)
class Number:
    """A measured number, ready to be shown.

    Attributes
    ----------
    text : str
        Value and unit.
    detail : str
        Ratio, samples, spread, size and machine.
    run_id : str
        Run that it comes from.
    """

    text: str
    detail: str
    run_id: str


def measured_on(provenance: Provenance, *, gpu: bool = True) -> str:
    """Say on which machine and day a recording was made.

    Parameters
    ----------
    provenance : Provenance
        Of the recording.
    gpu : bool
        Whether the page needs a GPU; one that does not was measured on the machine's CPU.

    Returns
    -------
    str
        For example ``"NVIDIA H200, 21 November 2026"``.
    """
    day = date.fromisoformat(provenance.utc_date[:10])
    with_gpu = gpu and provenance.gpu not in ("", "none")
    processor = provenance.gpu if with_gpu else provenance.cpu.replace("(R)", "")
    if not with_gpu and provenance.threads:
        processor += f" with {provenance.threads} threads"
    return f"{processor or provenance.machine}, {day.day} {day:%B} {day.year}"


def resolve(reference: Reference, recording: Recording) -> Number:
    """Look a reference up in its page's recording.

    Parameters
    ----------
    reference : Reference
        As parsed.
    recording : Recording
        Of the page that it names.

    Returns
    -------
    Number
        Text and detail for readers.

    Raises
    ------
    UnknownNameError
        If study, fact, variant, size or quantity is not in the recording; the message names the nearest.
    """
    if reference.kind == "fact":
        if reference.name not in recording.facts:
            raise unknown("fact or study", reference.name, [*recording.facts, *recording.studies])
        text, detail = _fact(recording.facts[reference.name])
    else:
        if reference.name not in recording.studies:
            raise unknown("study", reference.name, recording.studies)
        results = recording.studies[reference.name]
        text, detail = (_quantity if reference.kind == "cell" else _crossover)(reference, results)
    return Number(text, f"{detail}; {measured_on(recording.provenance)}", recording.run_id)


def _fact(fact: Fact) -> tuple[str, str]:
    detail = fact.note or fact.name.replace("_", " ")
    if isinstance(fact.value, str) or len(fact.samples) < 2:
        return format_quantity(fact.value, fact.unit), detail
    ends = min(fact.samples), max(fact.samples)
    samples = f"{len(fact.samples)} samples from {format_interval(fact.value, fact.unit, *ends)}"
    return format_quantity(fact.value, fact.unit, *ends), f"{detail}; {samples}"


def _quantity(reference: Reference, results: Results) -> tuple[str, str]:
    quantity = results.quantity(
        reference.variant, reference.size, reference.quantity, baseline=reference.baseline or None
    )
    counted = "rounds" if reference.baseline else "samples"
    spread = f"95 % interval {quantity.interval}, {quantity.n} {counted}"
    parts = [
        _subject(reference, results, quantity),
        spread,
        f"{size_words(reference.size)} {results.size_name}",
    ]
    return str(quantity), "; ".join(parts)


def _subject(reference: Reference, results: Results, quantity: Quantity) -> str:
    if quantity.ratio_of:
        return quantity.ratio_of
    label = results.variant(reference.variant).label
    region = "launch" if reference.quantity == "launch" else results.variant(reference.variant).clock
    return f"{label}, {REGIONS[region].sentence}"


def _crossover(reference: Reference, results: Results) -> tuple[str, str]:
    first, second = reference.pair
    labels = [results.variant(name).label for name in reference.pair]
    bracket = results.crossover(first, second)
    if bracket is None:
        raise UnknownNameError(
            f"{second!r} never overtakes {first!r} for good at the sizes of study {results.name!r}: "
            "there is no crossover to show. Swap the two names or measure other sizes."
        )
    below, above = size_words(bracket.slower_at), size_words(bracket.faster_at)
    detail = f"{labels[1]} is slower than {labels[0]} at {below} and faster at {above} {results.size_name}"
    if reference.side:
        return (below if reference.side == "slower_at" else above), detail
    return f"between {below} and {above} {results.size_name}", detail
