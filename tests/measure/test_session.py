"""Sessions: what they collect, facts, ceilings and the budget."""

from __future__ import annotations

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, NoGpuError
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


class TestSession:
    """Which session is current, and what it refuses."""

    def test_a_recording_session_is_current_until_it_ends(self):
        before = current()
        with recording_session(seed=3) as made:
            assert current() is made
            assert made.recording
            assert made.seed == 3
        assert current() is before
        assert not before.recording

    def test_remaining_seconds_come_from_the_given_clock(self):
        host = FakeHost()
        made = Session(budget_s=10, clock=host)
        host.advance(4_000_000_000)
        assert made.remaining_s() == 6
        host.advance(40_000_000_000)
        assert made.remaining_s() == 0
        assert Session().remaining_s() == float("inf")

    def test_a_name_can_be_used_once_while_recording(self, session):
        fact("a", 1, unit="1")
        with pytest.raises(ArgumentError, match="There is a fact 'a' already; give each fact of a page"):
            fact("a", 2, unit="1")

    def test_a_session_can_be_entered_again(self):
        made = Session(drawing=True)
        for name in ("a", "b"):
            with entered(made):
                fact(name, 1, unit="1")
        assert list(made.facts) == ["a", "b"]

    def test_the_given_clock_is_the_machines_too(self):
        host = FakeHost()
        assert Session(clock=host, given_machine=Machine()).machine.host is host


class TestFact:
    """Single figures."""

    def test_it_is_kept_with_unit_samples_and_note(self, session):
        made = fact("bandwidth", np.float32(2.5), unit="B/s", samples=[2, 3], note="Two runs.")
        assert session.facts == {"bandwidth": made}
        assert (made.value, made.unit, made.samples, made.note) == (2.5, "B/s", (2.0, 3.0), "Two runs.")
        assert type(made.value) is float

    @pytest.mark.parametrize(
        ("name", "value", "unit", "message"),
        [
            ("two words", 1, "1", "name must be a word of letters, digits and underscores; got 'two words'"),
            ("a", float("inf"), "s", "value must be finite; got inf"),
            ("a", "1", "s", "expected a number for unit 's'; got '1'"),
            ("a", 1, "ms", "ms"),
            ("a", 1, "text", "expected a text"),
        ],
    )
    def test_name_value_and_unit_are_checked(self, session, name, value, unit, message):
        with pytest.raises(ArgumentError, match=message):
            fact(name, value, unit=unit)
        assert session.facts == {}

    def test_samples_are_checked(self, session):
        with pytest.raises(ArgumentError, match="every sample must be finite; got nan"):
            fact("a", 1, unit="s", samples=[1.0, float("nan")])


class TestCeilings:
    """Measured once a session."""

    def test_given_ones_are_not_measured(self):
        given = Ceilings((Ceiling("copy", 4e12, "B/s"),))
        with recording_session(ceilings=given):
            assert machine_ceilings() is given

    def test_they_are_measured_once_on_the_sessions_gpu(self, monkeypatch):
        calls = []
        measured = Ceilings((Ceiling("copy", 4e12, "B/s"),))
        monkeypatch.setattr(session_module, "measure", lambda *args: calls.append(args) or measured)
        gpu = FakeGpu()
        with recording_session(given_machine=Machine(gpu, EXAMPLE_DEVICE)):
            assert machine_ceilings() is measured
            assert machine_ceilings() is measured
        assert calls == [(gpu, EXAMPLE_DEVICE)]

    def test_without_a_gpu_the_error_holds_the_cure(self, monkeypatch):
        def no_gpu():
            raise NoGpuError("This needs a GPU.")

        monkeypatch.setattr(session_module.device, "require_gpu", no_gpu)
        with recording_session(given_machine=Machine()), pytest.raises(NoGpuError, match="This needs a GPU"):
            machine_ceilings()
