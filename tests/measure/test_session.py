"""Sessions: what they collect, facts, ceilings and the budget."""

from __future__ import annotations

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import session as session_module
from gpuguide.measure.session import (
    Machine,
    Session,
    current,
    entered,
    fact,
    machine_ceilings,
    recording_session,
)
from gpuguide.results.ceilings import Ceiling, Ceilings


@pytest.fixture
def session():
    with recording_session() as made:
        yield made


def test_a_recording_session_is_current_until_it_ends():
    before = current()
    with recording_session(seed=3) as made:
        assert current() is made
        assert made.recording
        assert made.seed == 3
    assert current() is before
    assert not before.recording


def test_remaining_seconds_come_from_the_given_clock():
    host = FakeHost()
    made = Session(budget_s=10, clock=host, given_machine=Machine())
    assert made.machine.host is host
    host.advance(4_000_000_000)
    assert made.remaining_s() == 6
    host.advance(40_000_000_000)
    assert made.remaining_s() == 0
    assert Session().remaining_s() == float("inf")


def test_a_session_can_be_entered_again():
    made = Session(drawing=True)
    for name in ("a", "b"):
        with entered(made):
            fact(name, 1, unit="1")
    assert list(made.facts) == ["a", "b"]


def test_a_fact_is_kept_with_unit_samples_and_note_and_its_name_is_taken(session):
    made = fact("bandwidth", np.float32(2.5), unit="B/s", samples=[2, 3], note="Two runs.")
    assert session.facts == {"bandwidth": made}
    assert (made.value, made.unit, made.samples, made.note) == (2.5, "B/s", (2.0, 3.0), "Two runs.")
    assert type(made.value) is float
    with pytest.raises(ArgumentError, match="There is a fact 'bandwidth' already; give each fact of a page"):
        fact("bandwidth", 2, unit="1")


@pytest.mark.parametrize(
    ("name", "value", "options", "message"),
    [
        ("two words", 1, {"unit": "1"}, "name must be a word .*; got 'two words'"),
        ("a", float("inf"), {"unit": "s"}, "value must be finite; got inf"),
        ("a", "1", {"unit": "s"}, "expected a number for unit 's'; got '1'"),
        ("a", 1, {"unit": "ms"}, "ms"),
        ("a", 1, {"unit": "text"}, "expected a text"),
        ("a", 1, {"unit": "s", "samples": [1.0, float("nan")]}, "every sample must be finite; got nan"),
    ],
)
def test_a_fact_that_says_nothing_is_refused(session, name, value, options, message):
    with pytest.raises(ArgumentError, match=message):
        fact(name, value, **options)
    assert session.facts == {}


def test_ceilings_are_measured_once_on_the_sessions_gpu_unless_given(monkeypatch):
    given = Ceilings((Ceiling("copy", 4e12, "B/s"),))
    calls = []
    monkeypatch.setattr(session_module, "measure", lambda *args: calls.append(args) or given)
    gpu = FakeGpu()
    with recording_session(given_machine=Machine(gpu, EXAMPLE_DEVICE)):
        assert machine_ceilings() is machine_ceilings() is given
    with recording_session(ceilings=given):
        assert machine_ceilings() is given
    assert calls == [(gpu, EXAMPLE_DEVICE)]
