"""Claims and explained figures: stated in drawn cells, printed elsewhere, refused in recorded cells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuguide.errors import ArgumentError, ClaimError, UnknownNameError
from gpuguide.measure import session as session_module
from gpuguide.measure.session import Session, current, entered, recording_session
from gpuguide.results.counters import NOT_COUNTED, Counted, KernelCounts
from gpuguide.results.records import Fact, Measurement, VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results
from gpuguide.results.units import format_quantity
from gpuguide.statements import DrawnPage, claim, counted, explained


def results(one_ns=6000, four_ns=3000, **options):
    def cell(variant, ns):
        return Measurement(variant, 1024, "device", (ns, ns + 10, ns + 20), (0, 1, 2))

    return Results(
        name="add",
        size_name="elements",
        dtype="float32",
        variants=(VariantInfo("one", "One"), VariantInfo("four", "Four")),
        sizes=(1024,),
        **{
            "title": "Add one",
            "measurements": (cell("one", one_ns), cell("four", four_ns)),
            **options,
        },
    )


SENTENCE = "Add one: Four is faster than One at 2^10 elements (device time)"


@pytest.fixture
def session():
    """That of the drawn cells of a page."""
    with entered(Session(drawing=True)) as made:
        yield made


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(session_module, "_sessions", [Session()])


def four_wins(given, **options):
    """Claim that four a thread are faster."""
    claim(given, "four", faster_than="one", at=1024, **options)


def test_a_count_is_divided_and_says_when_there_is_none(session):
    """A slip is named if other counters are there."""
    cell = ("add", "four", 1024)
    counters = [Counted(*cell, (KernelCounts("add", 1e-6, (("instructions", 96.0),)),))]
    assert counted("each", counters, cell, "instructions", per=32).value == 3
    assert counted("later", [], cell, "instructions", per=32).value == NOT_COUNTED
    with pytest.raises(UnknownNameError, match="one"):
        counted("wrong", counters, ("add", "one", 1024), "instructions")
    assert set(session.facts) == {"each", "later"}


class TestClaim:
    """What is claimed is printed with its figures, kept, and must hold in a drawn cell."""

    def test_it_is_kept_with_its_interval_and_printed_with_both_figures(self, session, capsys):
        four_wins(results())
        (made,) = session.claims
        assert (made.text, made.holds, made.unit, made.swapped) == (SENTENCE, True, "ratio", False)
        assert 1 < made.low <= made.high < 2.1
        assert capsys.readouterr().out == (
            f"{SENTENCE}: holds.\n"
            "    speedup over One: 2.0× (one machine start)\n"
            "    Four, device time: 3.0 µs (one machine start)\n"
            "    One, device time: 6.0 µs (one machine start)\n"
        )

    def test_a_long_sentence_is_broken_for_the_page(self, session, capsys):
        four_wins(results(title="Adding one to each of very many elements"))
        first, second, *_ = capsys.readouterr().out.split("\n")
        assert len(first) <= 88 < len(f"{first} {second}")
        assert second.endswith(": holds.")

    def test_a_line_never_ends_inside_of_a_word_with_hyphens(self, session, capsys):
        four_wins(results(title="Adding end-to-end" + " one-by-one" * 15))
        assert "-\n" not in capsys.readouterr().out

    def test_factor_clock_and_several_others_are_passed_on(self, session):
        four_wins(results(), by=1.5, clock="device")
        assert session.claims[0].text.endswith(
            "Four is at least 1.5 times as fast as One at 2^10 elements (device time)"
        )
        with pytest.raises(UnknownNameError, match="Unknown clock 'devise'"):
            four_wins(results(), clock="devise")
        with pytest.raises(UnknownNameError, match="Unknown variant 'to'"):
            claim(results(), "four", faster_than=["one", "to"], at=1024)

    def test_what_holds_in_some_runs_alone_fails_the_cell_and_names_the_others(self, session):
        first, last = results(one_ns=2000, start="a"), results(start="b")
        with pytest.raises(ClaimError) as caught:
            four_wins(replace(last, others=(first,)))
        assert ": cannot be decided, since it holds in 1 of 2 runs, not in run 1 (0.67×)." in str(
            caught.value
        )
        assert "speedup over One: 1.2× (two machine starts)" in str(caught.value)
        assert session.claims == []

    def test_a_share_of_the_ceiling_is_claimed(self, session, capsys):
        claim(sample_results(), "numba", share_at_least=0.85, at=2**26)
        assert session.claims[0].unit == "share"
        assert "Numba reaches at least 85 % of its ceiling at 2^26 elements" in session.claims[0].text
        assert "Numba, share of its ceiling: 9" in capsys.readouterr().out

    def test_in_a_drawn_cell_a_false_one_raises_with_both_figures_and_what_to_do(self, session):
        with pytest.raises(ClaimError) as caught:
            four_wins(results(one_ns=2000))
        message = str(caught.value)
        assert message.startswith(f"{SENTENCE}: does not hold. speedup over One: 0.67× (")
        assert "Four, device time: 3.0 µs" in message
        assert "One, device time: 2.0 µs" in message
        assert message.endswith("claim less, or find out what changed and measure again.")
        assert session.claims == []

    def test_a_recorded_cell_is_told_where_it_belongs(self):
        with recording_session() as recorded, pytest.raises(ArgumentError, match="first line is '# draw'"):
            four_wins(results())
        assert recorded.claims == []

    def test_on_quick_results_a_false_one_is_only_printed(self, capsys):
        with entered(Session(drawing=True, quick=True)) as session:
            four_wins(results(one_ns=2000))
        assert [made.holds for made in session.claims] == [False]
        assert "does not hold.\n    speedup over One: 0.67×" in capsys.readouterr().out

    def test_a_sentence_is_claimed_once_on_a_page(self, session):
        four_wins(results())
        with pytest.raises(ArgumentError, match=r"There is a claim 'Add one: Four is faster .*' already"):
            four_wins(results())

    def test_elsewhere_a_false_one_is_printed_and_fails_nothing(self, capsys, notebook):
        four_wins(results(one_ns=2000))
        assert current().claims[0].holds is False
        printed = capsys.readouterr().out
        assert "does not hold.\n    speedup over One: 0.67×" in printed
        assert "\n    Four, device time: 3.0 µs" in printed

    def test_what_was_not_measured_decides_nothing(self, capsys, notebook):
        missing = (
            Measurement("one", 1024, "device", (3000,), (0,)),
            Measurement("four", 1024, "device", reason="no GPU on this machine"),
        )
        four_wins(results(measurements=missing))
        assert current().claims[0].holds is None
        why = "cannot be decided, since 'four' was not measured at 2^10 (no GPU on this machine)"
        assert why in capsys.readouterr().out.replace("\n", " ")
        with entered(Session(drawing=True)), pytest.raises(ClaimError, match="cannot be decided"):
            four_wins(results(measurements=missing))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "expected either faster_than or share_at_least; got neither"),
            ({"faster_than": "one", "share_at_least": 0.9}, "got both"),
            ({"share_at_least": 0.9, "by": 2}, "by and clock belong to faster_than"),
            ({"share_at_least": 0.9, "clock": "device"}, "by and clock belong to faster_than"),
            ({"faster_than": "one", "by": 0}, "a number of at least 1; got 0"),
            ({"share_at_least": 0}, "above 0 and at most 1"),
        ],
    )
    def test_arguments_are_checked(self, session, arguments, message):
        with pytest.raises(ArgumentError, match=message):
            claim(results(), "four", at=1024, **arguments)

    def test_results_come_first(self, session):
        with pytest.raises(ArgumentError, match="claim: expected Results first; got 'Four beat one'"):
            claim("Four beat one", "four", faster_than="one", at=1024)


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

    def test_one_odd_run_of_three_does_not_decide(self, capsys):
        """In the second run the parts come to 85 %; the facts that a drawn cell gets are over the starts."""

        def over(*values):
            runs = zip("abc", values, strict=True)
            return Fact.over_starts([(start, Fact("f", value, "s")) for start, value in runs])

        page = DrawnPage({"part": over(0.97, 0.85, 0.98), "whole": over(1.0, 1.0, 1.01)}, None)
        with page.collecting():
            explained("wrong", [page.facts["part"].value], page.facts["whole"].value)
        assert capsys.readouterr().out == "The parts explain 97 % of the whole.\n"

    @pytest.mark.parametrize(("parts", "whole"), [((-0.1, 1.1), 1.0), ((1.0,), 0.0), ((float("nan"),), 1.0)])
    def test_what_is_no_time_is_named(self, parts, whole):
        with pytest.raises(ArgumentError, match="explained 'wrong'"):
            explained("wrong", parts, whole)
