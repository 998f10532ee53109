"""What a public object shows of itself in a session: at most fifteen lines of a terminal."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import gpuguide as gg
from gpuguide.errors import GpuGuideError
from gpuguide.measure.study import CheckReport
from gpuguide.recordings import store
from gpuguide.recordings.keys import Keys
from gpuguide.recordings.recording import Recording
from gpuguide.results.arrays import KeptArray
from gpuguide.results.benchmark import Benchmark, Timing
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Fact, Measurement, Traffic
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


def all_clocks() -> Benchmark:
    timing = Timing(tuple(range(1_000_000, 1_100_000, 1_000)), 64, "graph", 1e-6)
    return Benchmark("a_function", "NVIDIA H200", timing, timing, timing, notes=("A note. " * 20,) * 3)


def trace() -> object:
    from gpuguide import tracer

    source = (
        "from numba import cuda\n@cuda.jit\ndef k(x):\n" + "    x[cuda.grid(1) % 2] = cuda.grid(1)\n" * 20
    )
    return tracer.launch(tracer.load(source).k, (2, 1, 1), (8, 1, 1), [tracer.array([0, 0], "int32")])


# Of each class an object as large as they come; a function shows itself.
EXAMPLES: dict[str, Callable[[], object]] = {
    "Study": study,
    "Trace": trace,
    "Traffic": lambda: Traffic(bytes_read=2**40, bytes_written=2**40, flops=2**50),
    "Variant": lambda: max(study().variants, key=lambda each: len(repr(each))),  # type: ignore[attr-defined]
}
# What public functions return, and what one finds in there.
RETURNED: dict[str, Callable[[], object]] = {
    "load": recording,
    "load().facts": lambda: recording().facts,
    "load().studies": lambda: recording().studies,
    "Study.run": sample_results,
    "Study.run().measurements[0]": measurement,
    "Study.describe": lambda: study().describe(),  # type: ignore[attr-defined]
    "Study.check_all": lambda: CheckReport(tuple(sample_results().checks) * 100, {"mine": "no GPU"}),
    "benchmark": all_clocks,
    "an error": lambda: GpuGuideError("What went wrong. " * 20),
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
}


def test_each_public_class_has_an_example() -> None:
    classes = {name for name in gg.__all__ if isinstance(getattr(gg, name), type)}
    assert classes == set(EXAMPLES)


@pytest.mark.parametrize("name", gg.__all__)
def test_what_is_public_shows_itself_in_a_few_lines(name: str) -> None:
    assert lines(getattr(gg, name)) <= MOST_LINES
    if name in EXAMPLES:
        assert lines(EXAMPLES[name]()) <= MOST_LINES


@pytest.mark.parametrize("name", RETURNED)
def test_what_public_functions_return_shows_itself_in_a_few_lines(name: str) -> None:
    assert lines(RETURNED[name]()) <= MOST_LINES


def records_in(thing: object, path: str) -> Iterator[tuple[str, object]]:
    """What one finds by asking a record for its fields, and these for theirs."""
    yield path, thing
    if dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from records_in(getattr(thing, field.name), f"{path}.{field.name}")
    elif isinstance(thing, dict):
        for name, each in thing.items():
            yield from records_in(each, f"{path}[{name!r}]")
    elif isinstance(thing, tuple) and any(map(dataclasses.is_dataclass, thing)):
        for i, each in enumerate(thing):
            yield from records_in(each, f"{path}[{i}]")


PAGES = [(page, machine) for machine in store.machines() for page in store.pages(machine)]


@pytest.mark.parametrize(("page", "machine"), PAGES)
def test_all_that_a_recording_gives_shows_itself_in_a_few_lines(page: str, machine: str) -> None:
    """A tuple shows all of its items, whatever these do; what has a class of ours is short."""
    found = records_in(gg.load(page, machine), f"load({page!r})")
    # A kept array shows its letters. It is measured code: a shorter form waits for the next change of it.
    whole = (tuple, KeptArray)
    long = [path for path, thing in found if not isinstance(thing, whole) and lines(thing) > MOST_LINES]
    assert long == []


def test_the_lines_of_a_terminal_are_counted() -> None:
    assert lines(type("Long", (), {"__repr__": lambda self: "x" * WIDTH + "y\nz"})()) == 3
