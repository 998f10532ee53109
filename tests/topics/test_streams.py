"""Work in streams: what goes where, what waits for what, and a step that stays a step."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from compile_lane import needs_compilers, raw_facts
from gpuguide.errors import MismatchError
from gpuguide.topics.streams import kernels
from gpuguide.topics.streams import study as streams


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


def test_each_call_goes_to_its_stream_between_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing waits for a call in another stream, and what comes after waits for all."""
    log: list[str] = []
    current = SimpleNamespace(get_current_stream=lambda: Logged(log, "current"))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=current))
    monkeypatch.setattr(streams, "streams", lambda n: tuple(Logged(log, f"s{i}") for i in range(n)))
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


def test_an_inverse_in_the_wrong_place_is_rejected() -> None:
    a, b = streams.inverses.make_inputs(33**2, exact=False)
    with pytest.raises(MismatchError, match="Matrix 0 times its inverse is off"):
        streams.InverseCheck().compare(np.stack([np.linalg.inv(b), np.linalg.inv(a)]), (a, b))


@needs_compilers()
def test_a_step_stays_a_step() -> None:
    """Without the pragma the compiler would make one multiplication of four steps."""
    facts = raw_facts(kernels.steps_source, "steps")
    assert facts.count("mad.lo") + facts.count("mul.lo") == 2  # the index, and the step
    assert facts.registers <= 32
    assert facts.spills == 0
