"""What a reader sees of an object in a session: one screen, however many samples it holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gpuguide as gg
from gpuguide import catalogue
from gpuguide.measure.study import CheckReport
from gpuguide.results.benchmark import Benchmark, Timing
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Measurement
from gpuguide.results.sample import sample_results


def all_clocks() -> Benchmark:
    timing = Timing(tuple(range(1_000_000, 1_100_000, 1_000)), 64, "graph", 1e-6)
    return Benchmark("a_function", "NVIDIA H200", timing, timing, timing, notes=("A note. " * 20,) * 3)


def trace() -> object:
    source = (
        "from numba import cuda\n@cuda.jit\ndef k(x):\n" + "    x[cuda.grid(1) % 2] = cuda.grid(1)\n" * 20
    )
    kernel, x = gg.tracer.load(source).k, gg.tracer.array([0, 0], "int32")
    return gg.tracer.launch(kernel, (2, 1, 1), (8, 1, 1), [x])


SHOWN: dict[str, Callable[[], object]] = {
    "load": lambda: gg.load("sort_search"),
    "load().studies": lambda: gg.load("sort_search").studies,
    "load().facts": lambda: gg.load("compile_cost").facts,
    "a study": lambda: catalogue.studies("primes")["primes"],
    "Study.run": sample_results,
    "a measurement": lambda: Measurement("grid", 2**28, "device", tuple(range(100_123, 100_223)), (0,) * 100),
    "Study.check_all": lambda: CheckReport(tuple(sample_results().checks) * 100, {"mine": "no GPU"}),
    "benchmark": all_clocks,
    "trace": trace,
    "machine_ceilings": lambda: Ceilings(
        tuple(
            Ceiling(mix, 4.2e12, "B/s", tuple(range(1000, 1100)), 2**40, "how it was measured")
            for mix in ("read", "write", "copy", "two_to_one", "h2d", "d2h", "both_ways")
        )
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_it_shows_itself_on_one_screen(name: str) -> None:
    shown = repr(SHOWN[name]())
    assert len(shown.splitlines()) <= 15
    assert len(shown) <= 15 * 110
