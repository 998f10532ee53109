"""What a public object shows of itself in a session: at most fifteen lines of a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

import gpuguide as gg
from gpuguide.errors import GpuGuideError
from gpuguide.recordings.history import history
from gpuguide.recordings.keys import Keys
from gpuguide.recordings.recording import Recording
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Fact, Measurement, Traffic
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results

MOST_LINES, WIDTH = 15, 110


def lines(thing: object) -> int:
    return sum(max(1, math.ceil(len(line) / WIDTH)) for line in repr(thing).splitlines())


def recording() -> Recording:
    """A larger one than any page has: nine runs, twelve studies, sixty facts."""
    from gpuguide.recordings.recording import FormerRun
    from gpuguide.results.records import Provenance

    blank = dict.fromkeys(Provenance.__annotations__) | {"versions": (), "cpu_caches": ()}
    runs = tuple(
        Provenance(
            **{**blank, "machine": "m", "gpu": "a GPU", "utc_date": f"2026-11-{n:02}T10:00Z", "start": f"{n}"}
        )
        for n in range(1, 10)
    )
    studies = {f"study_{n}": replace(sample_results(), name=f"study_{n}") for n in range(12)}
    parts = tuple((f"cell {n}", "0123456789abcdef" * 4) for n in range(1, 60))
    return Recording(
        machine="nvidia-h200",
        page="sort_search",
        provenance=runs[-1],
        keys=Keys("0123456789abcdef" * 4, parts),
        studies=studies,
        facts={f"a_fact_with_a_name_{n}": Fact(f"a_fact_with_a_name_{n}", float(n), "s") for n in range(60)},
        runs=tuple(FormerRun("0123456789abcdef" * 4, each, studies=studies) for each in runs[:-1]),
    )


def measurement() -> Measurement:
    return Measurement("four_per_thread", 2**28, "device", tuple(range(100_123_000, 100_123_100)), (0,) * 100)


def study() -> object:
    from gpuguide import catalogue

    return catalogue.studies("primes")["primes"]


# Of each class an object as large as they come; a function shows itself.
EXAMPLES: dict[str, Callable[[], object]] = {
    "GpuGuideError": lambda: GpuGuideError("What went wrong. " * 20),
    "Measurement": measurement,
    "Results": sample_results,
    "Study": study,
    "Traffic": lambda: Traffic(bytes_read=2**40, bytes_written=2**40, flops=2**50),
    "Variant": lambda: max(study().variants, key=lambda each: len(repr(each))),  # type: ignore[attr-defined]
}
# What public functions return, and what one finds in there.
RETURNED: dict[str, Callable[[], object]] = {
    "load": recording,
    "load().keys": lambda: recording().keys,
    "load().runs[0]": lambda: recording().runs[0],
    "load().provenance": lambda: recording().provenance,
    "load().facts[...]": lambda: Fact("first_call", 0.5, "s", tuple(0.123456789 + n for n in range(100))),
    "Results.table()": lambda: sample_results().table(),
    "machine_ceilings": lambda: Ceilings(
        tuple(
            Ceiling(mix, 4.2e12, "B/s", tuple(range(1000, 1100)), 2**40, "how it was measured")
            for mix in ("read", "write", "copy", "two_to_one", "h2d", "d2h", "both_ways")
        )
    ),
    "history": lambda: history(recording(), every=True),
}


def test_each_public_class_has_an_example() -> None:
    classes = {name for name in gg.__all__ if isinstance(getattr(gg, name), type)}
    assert classes == set(EXAMPLES)
    assert isinstance(EXAMPLES["Results"](), Results)


@pytest.mark.parametrize("name", gg.__all__)
def test_what_is_public_shows_itself_in_a_few_lines(name: str) -> None:
    assert lines(getattr(gg, name)) <= MOST_LINES
    if name in EXAMPLES:
        assert lines(EXAMPLES[name]()) <= MOST_LINES


@pytest.mark.parametrize("name", RETURNED)
def test_what_public_functions_return_shows_itself_in_a_few_lines(name: str) -> None:
    assert lines(RETURNED[name]()) <= MOST_LINES


def test_the_lines_of_a_terminal_are_counted() -> None:
    assert lines(type("Long", (), {"__repr__": lambda self: "x" * WIDTH + "y\nz"})()) == 3
