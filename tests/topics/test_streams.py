"""Work in streams: what goes where, what waits for what, right results, and the timeline's shape."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.measure.study import Study
from gpuguide.topics.streams import kernels
from gpuguide.topics.streams import study as streams
from gpuguide_docs.commands import cupy_by_numpy


class Logged:
    """A stream that writes down what is asked of it."""

    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name = log, name

    def __enter__(self) -> Logged:
        self.log.append(f"in {self.name}")
        return self

    def __exit__(self, *_: object) -> None:
        self.log.append("out")

    def record(self) -> str:
        self.log.append(f"{self.name} records")
        return f"end of {self.name}"

    def wait_event(self, event: str) -> None:
        self.log.append(f"{self.name} waits for {event}")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the streams in CuPy's place were asked for."""
    written: list[str] = []

    class Fake:
        def __getattr__(self, name: str) -> Any:
            return getattr(cupy_by_numpy, name)

        class cuda:
            @staticmethod
            def get_current_stream() -> Logged:
                return Logged(written, "current")

    monkeypatch.setitem(sys.modules, "cupy", Fake())
    monkeypatch.setattr(streams, "streams", lambda n: tuple(Logged(written, f"s{i}") for i in range(n)))
    kinds = {kind: [Logged(written, f"{kind} {i}") for i in range(2)] for kind in ("own", "legacy")}
    monkeypatch.setattr(streams, "kinds", lambda: kinds)
    monkeypatch.setattr(streams, "steps", _steps)
    return written


def _steps(grid: Any, block: Any, arguments: Any) -> None:
    x, out, n, n_steps = arguments
    assert grid[0] * block[0] >= n == x.size
    out[...] = streams.steps_reference(np.asarray(x), int(n_steps))


# Streams ----------------------------------------------------------------------------------------------------


def test_each_call_goes_to_its_stream_between_before_and_after(log: list[str]) -> None:
    """Nothing waits for a call in another stream, and what comes after waits for all."""
    streams.in_streams([lambda: log.append("first"), lambda: log.append("second")])
    assert log == [
        "current records",
        "s0 waits for end of current",
        *("in s0", "first", "out"),
        "s1 waits for end of current",
        *("in s1", "second", "out"),
        *("s0 records", "current waits for end of s0"),
        *("s1 records", "current waits for end of s1"),
    ]


@pytest.mark.parametrize("study", [streams.inverses, streams.products], ids=lambda study: study.name)
@pytest.mark.parametrize("exact", [True, False])
def test_both_results_are_right_in_one_stream_and_in_two(study: Study, exact: bool, log: list[str]) -> None:
    a, b = study.make_inputs(33**2, exact=exact)
    for variant in study.variants:
        log.clear()
        out = np.full((2, 33, 33), np.nan, np.float32)
        variant.call(a, b, out)
        assert study.check is not None
        largest, tolerance = study.check.compare(out, study.check.prepare((a, b)))
        assert largest <= tolerance
        assert bool(log) == ("two" in variant.name)


def test_an_inverse_in_the_wrong_place_is_rejected() -> None:
    a, b = streams.inverses.make_inputs(33**2, exact=False)
    with pytest.raises(MismatchError, match="Matrix 0 times its inverse is off"):
        streams.InverseCheck().compare(np.stack([np.linalg.inv(b), np.linalg.inv(a)]), (a, b))


def test_rows_have_to_be_exchanged_and_rounding_stays_small() -> None:
    """A matrix whose largest elements lie on the diagonal would be inverted without pivoting."""
    a, b = streams.inverses.make_inputs(100**2, exact=False)
    for x in (a, b):
        assert (np.abs(x).argmax(axis=1) != np.arange(100)).mean() > 0.9
        assert np.linalg.cond(x) < 10


@pytest.mark.parametrize("n", [0, 1, 3])
def test_eight_kernels_make_their_steps(n: int, log: list[str]) -> None:
    (x,) = streams.blocks.make_inputs(n, exact=True)
    assert x.shape == (8, 256 * n)
    right = x.copy()
    with np.errstate(over="ignore"):
        for _ in range(streams.STEPS):
            right = np.uint32(1664525) * right + np.uint32(1013904223)
    for variant in streams.blocks.variants:
        out = np.zeros_like(x)
        variant.call(x, out)
        assert (out == right).all()


def test_short_kernels_make_as_many_steps_as_they_are_told(log: list[str]) -> None:
    n, x = streams.short.make_inputs(3, exact=True)
    for variant in streams.short.variants:
        out = np.zeros_like(x)
        variant.call(n, x, out)
        assert (out == streams.steps_reference(x, 3)).all()


def test_the_kernels_of_a_pair_go_to_its_two_streams(log: list[str]) -> None:
    x = np.arange(512, dtype=np.uint32).reshape(2, 256)
    out = np.zeros_like(x)
    streams.waits.variant("own_legacy").call(x, out)
    assert (out == streams.steps_reference(x)).all()
    assert [line for line in log if line.startswith("in ")] == ["in own 0", "in legacy 1"]


@needs_compilers()
def test_a_step_stays_a_step() -> None:
    """Without the pragma the compiler would make one multiplication of four steps."""
    facts = raw_facts(kernels.steps_source, "steps")
    assert facts.count("mad.lo") + facts.count("mul.lo") == 2  # the index, and the step
    assert facts.registers <= 32
    assert facts.spills == 0


@pytest.mark.gpu
def test_the_timeline_and_the_urgent_kernel_have_times() -> None:
    from gpuguide.topics.streams import timeline

    for n_streams in (1, 2):
        ((first, second),) = timeline.timeline(n_streams, 300)
        assert 0 <= first[0] < first[1]
        assert second[0] < second[1]
        assert n_streams == 2 or second[0] >= first[1]
    timeline.crowd(5)()
    seconds = timeline.urgent_times(n_turns=3)
    assert set(seconds) == {"urgent_default", "urgent_high", "background"}
    assert all(min(times) > 0 for times in seconds.values())
