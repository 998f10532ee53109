"""Sessions: what they collect, facts, claims, ceilings and the budget."""

from __future__ import annotations

import numpy as np
import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide.errors import ArgumentError, ClaimError, NoGpuError, UnknownNameError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure import session as session_module
from gpuguide.measure.session import (
    Machine,
    Session,
    claim,
    current,
    explained,
    fact,
    machine_ceilings,
    recording_session,
)
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.claims import source_of
from gpuguide.results.records import Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.units import format_quantity


def results(one_ns=6000, four_ns=3000, name="add", **options):
    def cell(variant, ns):
        return Measurement(variant, 1024, "device", (ns, ns + 10, ns + 20), (0, 1, 2))

    return Results(
        name=name,
        title="Add one",
        size_name="elements",
        dtype="float32",
        variants=(VariantInfo("one", "One"), VariantInfo("four", "Four")),
        sizes=(1024,),
        **{"measurements": (cell("one", one_ns), cell("four", four_ns)), **options},
    )


def faster(r):
    return r.speedup("four", "one", 1024).low > 1


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

    def test_it_ends_when_the_page_fails(self):
        before = current()
        with pytest.raises(ZeroDivisionError), recording_session():
            raise ZeroDivisionError
        assert current() is before

    def test_remaining_seconds_come_from_the_given_clock(self):
        host = FakeHost()
        made = Session(budget_s=10, clock=host)
        host.advance(4_000_000_000)
        assert made.remaining_s() == 6
        host.advance(40_000_000_000)
        assert made.remaining_s() == 0
        assert Session().remaining_s() == float("inf")

    def test_a_budget_must_be_positive(self):
        with pytest.raises(ArgumentError, match="positive number of seconds; got 0"):
            Session(budget_s=0)

    def test_a_name_can_be_used_once_while_recording(self, session):
        session.add_study(results())
        with pytest.raises(ArgumentError, match="There is a study 'add' already; give each study of a page"):
            session.add_study(results())

    def test_elsewhere_the_later_one_counts(self):
        made = Session()
        first, second = results(), results(one_ns=7000)
        made.add_study(first)
        made.add_study(second)
        assert made.studies == {"add": second}

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

    def test_a_name_can_be_used_once(self, session):
        fact("a", 1, unit="1")
        with pytest.raises(ArgumentError, match="There is a fact 'a' already"):
            fact("a", 2, unit="1")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ("two words", 1, "1"),
                "name must be a word of letters, digits and underscores; got 'two words'",
            ),
            ((5, 1, "1"), "got 5"),
            (("a", float("inf"), "s"), "value must be finite; got inf"),
            (("a", "1", "s"), "expected a number for unit 's'; got '1'"),
            (("a", True, "1"), "expected a number"),
            (("a", 1, "ms"), "ms"),
            (("a", 1, "text"), "expected a text"),
        ],
    )
    def test_name_value_and_unit_are_checked(self, session, arguments, message):
        name, value, unit = arguments
        with pytest.raises(ArgumentError, match=message):
            fact(name, value, unit=unit)
        assert session.facts == {}

    def test_samples_are_checked(self, session):
        with pytest.raises(ArgumentError, match="every sample must be finite; got nan"):
            fact("a", 1, unit="s", samples=[1.0, float("nan")])


def made_of(text, results, predicate):
    """Claim, and return what the session keeps of it."""
    claim(text, results, predicate)
    return current().claims[-1]


class TestClaim:
    """Sentences that must hold for the interval."""

    def test_it_is_kept_with_interval_and_code_and_printed_with_both_figures(self, session, capsys):
        made = made_of("Four a thread beat one", results(), lambda r: r.speedup("four", "one", 1024).low > 1)
        assert session.claims == [made]
        assert made.holds is True
        assert 1 < made.low <= made.high < 2.1
        assert made.unit == "ratio"
        assert made.expression == 'r.speedup("four", "one", 1024).low > 1'
        printed = capsys.readouterr().out
        assert printed.startswith("Four a thread beat one: holds.\n    speedup(four, one, 2^10) 2.00×")
        assert "four: device time at 2^10 3.01 µs" in printed
        assert "one: device time at 2^10 6.01 µs" in printed

    def test_while_recording_a_false_one_raises_with_both_figures(self, session):
        with pytest.raises(ClaimError) as caught:
            claim("Four a thread beat one", results(one_ns=2000), faster)
        message = str(caught.value)
        assert message.startswith("Four a thread beat one: does not hold. ")
        assert "four: device time at 2^10 3.01 µs" in message
        assert "one: device time at 2^10 2.01 µs" in message
        assert session.claims == []

    def test_elsewhere_a_false_one_is_printed_and_fails_nothing(self, capsys, monkeypatch):
        monkeypatch.setattr(session_module, "_sessions", [Session()])
        assert made_of("Four a thread beat one", results(one_ns=2000), faster).holds is False
        assert "does not hold.\n    speedup(four, one, 2^10)" in capsys.readouterr().out
        assert current().claims[0].holds is False

    def test_a_ratio_that_is_not_clear_of_one_does_not_hold(self, session):
        noisy = (
            Measurement("one", 1024, "device", (2900, 3100, 3000), (0, 1, 2)),
            Measurement("four", 1024, "device", (3000, 2900, 3100), (0, 1, 2)),
        )
        with pytest.raises(ClaimError, match="must hold for the whole interval"):
            claim("Four a thread beat one", results(measurements=noisy), faster)

    def test_what_was_not_measured_decides_nothing(self, capsys, monkeypatch):
        missing = (
            Measurement("one", 1024, "device", (3000,), (0,)),
            Measurement("four", 1024, "device", reason="no GPU on this machine"),
        )
        monkeypatch.setattr(session_module, "_sessions", [Session()])
        assert made_of("Four beat one", results(measurements=missing), faster).holds is None
        assert "cannot be decided on these results" in capsys.readouterr().out
        with recording_session(), pytest.raises(ClaimError, match="cannot be decided"):
            claim("Four beat one", results(measurements=missing), faster)

    def test_an_unknown_name_is_an_error_everywhere(self, session):
        with pytest.raises(UnknownNameError, match=r"Unknown variant 'fore'. Did you mean 'four'"):
            claim("Four beat one", results(), lambda r: r.speedup("fore", "one", 1024).low > 1)

    def test_several_results_are_several_arguments(self, session):
        made = made_of(
            "Adding is as fast twice",
            [results(), results(name="again")],
            lambda a, b: a.measurement("one", 1024).median_s == b.measurement("one", 1024).median_s,
        )
        assert made.holds
        assert made.unit == "s"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("", results(), faster), "text must be a sentence; got ''"),
            (("A", 5, faster), "results must be Results, or a sequence of them; got 5"),
            (("A", [], faster), "results must be Results"),
            (("A", results(), True), "predicate must be a callable of the results; got True"),
            (
                ("A", results(), lambda r: r.speedup("four", "one", 1024).low),
                "must return True or False; got ",
            ),
        ],
    )
    def test_arguments_are_checked(self, session, arguments, message):
        with pytest.raises(ArgumentError, match=message):
            claim(*arguments)

    def test_a_numpy_bool_is_a_bool(self, session):
        assert made_of("A", results(), lambda r: np.bool_(True)).holds is True

    def test_the_code_of_two_lambdas_of_one_line_is_told_apart(self):
        first, second = (lambda r: r.a > 1), (lambda r: r.b > 2)
        assert (source_of(first), source_of(second)) == ("r.a > 1", "r.b > 2")

    def test_the_figures_stand_in_for_code_that_cannot_be_found(self, session):
        predicate = eval("lambda r: r.speedup('four', 'one', 1024).low > 1")
        assert made_of("A", results(), predicate).expression.startswith("speedup(four, one, 2^10); ")


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


class TestExplained:
    """The parts of a wrong figure add up to 90 to 110 per cent of it."""

    @pytest.mark.parametrize("parts", [(0.9,), (0.6, 0.5), (1.0,)])
    def test_parts_that_add_up_are_kept_as_a_share(self, parts):
        with recording_session(given_machine=Machine(), ceilings=Ceilings()) as session:
            explained("wrong", parts, 1.0)
        assert session.facts["wrong"].value == pytest.approx(sum(parts))
        assert session.facts["wrong"].unit == "share"

    @pytest.mark.parametrize("parts", [(0.89,), (0.6, 0.52), ()])
    def test_parts_that_do_not_stop_a_recording(self, parts):
        session = recording_session(given_machine=Machine(), ceilings=Ceilings())
        with session, pytest.raises(ClaimError, match="90 to 110 %"):
            explained("wrong", parts, 1.0)

    def test_elsewhere_the_share_is_only_printed(self, capsys, monkeypatch):
        monkeypatch.setattr(session_module, "_sessions", [Session()])
        assert explained("wrong", [0.5], 1.0).value == 0.5
        assert capsys.readouterr().out == "The parts explain 50 % of the whole.\n"

    @pytest.mark.parametrize("share", [0.9013, 0.9961, 1.0121, 1.0194, 1.0474, 1.0996])
    def test_prose_shows_the_share_that_was_printed(self, share, capsys):
        with recording_session(given_machine=Machine(), ceilings=Ceilings()):
            kept = explained("wrong", [share], 1.0)
        printed = capsys.readouterr().out
        assert printed == f"The parts explain {format_quantity(kept.value, kept.unit)} of the whole.\n"

    @pytest.mark.parametrize(("parts", "whole"), [((-0.1, 1.1), 1.0), ((1.0,), 0.0), ((float("nan"),), 1.0)])
    def test_what_is_no_time_is_named(self, parts, whole):
        with pytest.raises(ArgumentError, match="explained 'wrong'"):
            explained("wrong", parts, whole)
