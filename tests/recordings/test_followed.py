"""Which numbers of a recording are followed, and what each run has of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_runs import added, run
from test_store import recording

from gpuguide.recordings.history import history
from gpuguide.recordings.recording import Recording
from gpuguide.recordings.runs import over_starts
from gpuguide.results.records import Fact, VariantInfo
from gpuguide.results.results import Results
from study_results import cell, make, missing


def labels(made: Recording, *, every: bool = False) -> list[tuple[str, str]]:
    return [(number.where, number.label) for number in history(made, every=every).numbers]


def with_study(study: Results) -> Recording:
    return replace(recording(), studies={study.name: study}, names={"results": study.name})


def test_the_best_of_the_cpu_stands_beside_the_best_of_the_gpu() -> None:
    """At the largest size that both reached; what is faster elsewhere decides nothing."""
    where = "add at 2^20 elements"
    assert labels(with_study(make())) == [
        (where, "NumPy"),
        (where, "Four a thread (kernel)"),
        (where, "times as fast"),
    ]


def test_the_best_of_several_on_the_cpu_is_the_rival() -> None:
    study = make()
    threads = VariantInfo("threads", "All threads", device="cpu", clock="host", threads=8)
    more = replace(cell("numpy", 2**20, 300_000), variant="threads")
    study = replace(study, variants=(*study.variants, threads), measurements=(*study.measurements, more))
    assert labels(with_study(study))[0] == ("add at 2^20 elements", "All threads")


def test_on_one_side_alone_the_slowest_stands_beside_the_fastest() -> None:
    study = make()
    gpu = replace(
        study,
        variants=study.variants[1:],
        measurements=tuple(each for each in study.measurements if each.variant != "numpy"),
    )
    followed = labels(with_study(gpu))
    assert [label for _, label in followed] == [
        "One a thread (kernel)",
        "Four a thread (kernel)",
        "times as fast",
    ]
    assert followed[0][0] == "add at 2^26 elements"


def test_one_variant_is_one_number() -> None:
    study = make()
    one = replace(study, variants=study.variants[2:], measurements=study.measurements[6:9])
    assert labels(with_study(one)) == [("add at 2^26 elements", "Four a thread (kernel)")]


def test_the_study_that_the_page_calls_results_is_meant() -> None:
    both = {"other": replace(make(), name="other"), "add": make()}
    made = replace(recording(), studies=both)
    assert {where for where, _ in labels(replace(made, names={"qr": "other", "results": "add"}))} == {
        "add at 2^20 elements"
    }
    assert {where for where, _ in labels(replace(made, names={}))} == {"other at 2^20 elements"}


@pytest.mark.parametrize("measured", [True, False])
def test_without_times_the_first_facts_are_followed(measured: bool) -> None:
    nothing = replace(make(), measurements=(missing("one", 2**20, "no GPU"),))
    facts = {
        name: Fact(name, value, unit)
        for name, value, unit in (
            ("made_by", "somebody", "text"),
            ("first_call", 0.5, "s"),
            ("rate", 2.0, "B/s"),
            ("n", 3, "1"),
            ("m", 4, "1"),
        )
    }
    made = replace(with_study(nothing), facts=facts)
    made = made if measured else replace(made, studies={}, names={})
    assert labels(made) == [("facts", "first call"), ("facts", "rate"), ("facts", "n")]


def test_the_runs_stand_oldest_first_with_their_starts() -> None:
    whole = added(run(0, "a"), run(1, "b", factor=1.5), run(2, "a", factor=1.1))
    for made in (whole, over_starts(whole)):
        found = history(made)
        assert [(each.date[8:10], each.start) for each in found.runs] == [("01", 1), ("02", 2), ("03", 1)]
        numpy, numba, ratio = found.numbers
        assert [round(value / numpy.values[0], 2) for value in numpy.values] == [1, 1.5, 1.1]
        assert [round(value / numba.values[0], 2) for value in numba.values] == [1, 1.5, 1.1]
        assert len({round(value, 3) for value in ratio.values}) == 1
        assert (numpy.over.n_starts, numpy.over.n_runs) == (2, 3)


def test_the_median_is_the_one_that_the_page_shows() -> None:
    whole = over_starts(added(run(0), run(1, factor=1.5), run(2, factor=1.1)))
    study = whole.studies["sample"]
    numba = history(whole).numbers[1].over
    assert numba == study.time("numba", 2**26)


def test_everything_is_every_cell_and_every_fact() -> None:
    whole = added(run(0), run(1))
    cells = whole.studies["sample"].measurements
    assert len(history(whole, every=True).numbers) == sum(each.n > 0 for each in cells) + len(whole.facts)
    with_launches = replace(make(), name="add")
    assert ("add at 2^26 elements", "Four a thread (launch)") in labels(with_study(with_launches), every=True)
