"""Claims and explained figures: stated in drawn cells, printed elsewhere, refused in recorded cells."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, ClaimError, UnknownNameError
from gpuguide.measure import session as session_module
from gpuguide.measure.session import Session, current, entered, recording_session
from gpuguide.results.records import Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.units import format_quantity
from gpuguide.statements import claim, explained


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
    """That of the drawn cells of a page."""
    with entered(Session(drawing=True)) as made:
        yield made


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(session_module, "_sessions", [Session()])


def made_of(text, results, predicate):
    """Claim, and return what the session keeps of it."""
    claim(text, results, predicate)
    return current().claims[-1]


class TestClaim:
    """Sentences that must hold for the interval."""

    def test_it_is_kept_with_its_interval_and_printed_with_both_figures(self, session, capsys):
        made = made_of("Four a thread beat one", results(), lambda r: r.speedup("four", "one", 1024).low > 1)
        assert session.claims == [made]
        assert made.holds is True
        assert 1 < made.low <= made.high < 2.1
        assert made.unit == "ratio"
        assert made.swapped is False
        printed = capsys.readouterr().out
        assert printed.startswith("Four a thread beat one: holds.\n    speedup(four, one, 2^10) 2.00×")
        assert "four: device time at 2^10 3.01 µs" in printed
        assert "one: device time at 2^10 6.01 µs" in printed

    def test_in_a_drawn_cell_a_false_one_raises_with_both_figures(self, session):
        with pytest.raises(ClaimError) as caught:
            claim("Four a thread beat one", results(one_ns=2000), faster)
        message = str(caught.value)
        assert message.startswith("Four a thread beat one: does not hold. ")
        assert "four: device time at 2^10 3.01 µs" in message
        assert "one: device time at 2^10 2.01 µs" in message
        assert session.claims == []

    def test_a_recorded_cell_is_told_where_it_belongs(self):
        with recording_session() as recorded, pytest.raises(ArgumentError, match="first line is '# draw'"):
            claim("Four a thread beat one", results(), faster)
        assert recorded.claims == []

    def test_on_quick_results_a_false_one_is_only_printed(self, capsys):
        with entered(Session(drawing=True, quick=True)):
            assert made_of("Four a thread beat one", results(one_ns=2000), faster).holds is False
        assert "does not hold.\n    speedup(four, one, 2^10)" in capsys.readouterr().out

    def test_a_sentence_is_claimed_once_on_a_page(self, session):
        claim("Four a thread beat one", results(), faster)
        with pytest.raises(ArgumentError, match="There is a claim 'Four a thread beat one' already"):
            claim("Four a thread beat one", results(), faster)

    def test_elsewhere_a_false_one_is_printed_and_fails_nothing(self, capsys, notebook):
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

    def test_what_was_not_measured_decides_nothing(self, capsys, notebook):
        missing = (
            Measurement("one", 1024, "device", (3000,), (0,)),
            Measurement("four", 1024, "device", reason="no GPU on this machine"),
        )
        assert made_of("Four beat one", results(measurements=missing), faster).holds is None
        assert "cannot be decided on these results" in capsys.readouterr().out
        with entered(Session(drawing=True)), pytest.raises(ClaimError, match="cannot be decided"):
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


class TestExplained:
    """The parts of a wrong figure add up to 90 to 110 per cent of it."""

    @pytest.mark.parametrize("parts", [(0.9,), (0.6, 0.5), (1.0,)])
    def test_parts_that_add_up_are_kept_as_a_share(self, parts, session):
        explained("wrong", parts, 1.0)
        assert session.facts["wrong"].value == pytest.approx(sum(parts))
        assert session.facts["wrong"].unit == "share"

    @pytest.mark.parametrize("parts", [(0.89,), (0.6, 0.52), ()])
    def test_parts_that_do_not_fail_the_drawn_cell(self, parts, session):
        with pytest.raises(ClaimError, match="90 to 110 %"):
            explained("wrong", parts, 1.0)
        assert session.facts == {}

    def test_a_recorded_cell_is_told_where_it_belongs(self):
        with recording_session(), pytest.raises(ArgumentError, match="first line is '# draw'"):
            explained("wrong", [1.0], 1.0)

    def test_elsewhere_the_share_is_only_printed(self, capsys, notebook):
        assert explained("wrong", [0.5], 1.0).value == 0.5
        assert capsys.readouterr().out == "The parts explain 50 % of the whole.\n"

    @pytest.mark.parametrize("share", [0.9013, 0.9961, 1.0121, 1.0194, 1.0474, 1.0996])
    def test_prose_shows_the_share_that_was_printed(self, share, capsys, session):
        kept = explained("wrong", [share], 1.0)
        printed = capsys.readouterr().out
        assert printed == f"The parts explain {format_quantity(kept.value, kept.unit)} of the whole.\n"

    @pytest.mark.parametrize(("parts", "whole"), [((-0.1, 1.1), 1.0), ((1.0,), 0.0), ((float("nan"),), 1.0)])
    def test_what_is_no_time_is_named(self, parts, whole):
        with pytest.raises(ArgumentError, match="explained 'wrong'"):
            explained("wrong", parts, whole)
