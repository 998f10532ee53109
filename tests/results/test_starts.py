"""What another machine start is expected to measure: tried on made runs whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gpuguide.errors import ArgumentError
from gpuguide.results import starts
from gpuguide.results.claims import Faster, ReachesShare, decide
from gpuguide.results.records import Fact, Measurement
from gpuguide.results.results import Crossover, Results
from gpuguide.results.sample import sample_results
from gpuguide.results.starts import Quantity, expected
from study_results import CEILINGS, SIZES, cell, make

N = 10_000
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]


def normal(sigma: float) -> Draw:
    return lambda rng, shape: rng.normal(0, sigma, shape)


def heavy_tails(sigma: float) -> Draw:
    return lambda rng, shape: sigma * rng.standard_t(3, shape)


def two_modes(apart: float, part: float) -> Draw:
    return lambda rng, shape: apart * (rng.random(shape) < part) + rng.normal(0, 0.005, shape)


def medians(of_start: Draw, of_run: Draw, n_starts: int, runs_each: int = 1) -> NDArray[np.float64]:
    """The medians in seconds of each run on each start, of N recordings: shape (N, starts, runs)."""
    rng = np.random.default_rng(11)
    effects = of_start(rng, (N, n_starts, 1)) + of_run(rng, (N, n_starts, runs_each))
    return 61.7e-6 * np.exp(effects)


def coverage(made: NDArray[np.float64], names: str = "abcdefghi", spread: float = 0) -> float:
    """The part of recordings whose last start, one run of it, lies where the ones before say it would.

    The quartiles inside each run lie ``spread`` to either side of its median.
    """
    known = made[:, :-1].reshape(N, -1).tolist()
    labels = [names[i] for i in range(made.shape[1] - 1) for _ in range(made.shape[2])]
    hits = 0
    for values, following in zip(known, made[:, -1, 0].tolist(), strict=True):
        inside = [(value * (1 - spread), value * (1 + spread)) for value in values]
        found = expected(list(zip(labels, values, strict=True)), inside)
        hits += found.low <= following <= found.high
    return hits / N


NOTHING = normal(1e-9)


@pytest.mark.parametrize(
    ("of_start", "of_run"),
    [
        (normal(0.15), normal(0.05)),
        (normal(0.8), NOTHING),
        (heavy_tails(0.1), normal(0.02)),
        (two_modes(0.7, 0.5), NOTHING),
        (NOTHING, normal(0.01)),
    ],
    ids=[
        "start and run",
        "log-normal",
        "heavy tails",
        "two modes alike",
        "no effect of the start",
    ],
)
def test_another_start_lies_in_the_range_of_three(of_start: Draw, of_run: Draw) -> None:
    assert coverage(medians(of_start, of_run, 4)) >= 0.85


@pytest.mark.parametrize("seldom", [0.1, 0.2, 0.35])
def test_a_mode_that_three_starts_may_not_have_shown_is_covered_with_the_spread_inside(seldom: float) -> None:
    """The worst case of two modes: one start of five in the other. Without the spread inside it is 84.8 %."""
    made = medians(two_modes(0.7, seldom), normal(0.02), 4)
    assert coverage(made, spread=0.03) >= 0.85


def test_the_range_is_the_one_of_nine_in_ten_and_no_wider() -> None:
    """A rule that says "anything" would cover as well."""
    assert 0.88 <= coverage(medians(normal(0.15), normal(0.05), 4)) <= 0.92


def test_several_runs_of_a_start_are_one() -> None:
    """Two runs on each of three starts, compared with one run of the next, still cover it."""
    assert coverage(medians(normal(0.15), normal(0.03), 4, runs_each=2)) >= 0.85


def test_nine_starts_cover_as_well() -> None:
    assert 0.87 <= coverage(medians(normal(0.15), normal(0.05), 10)) <= 0.93


@pytest.mark.parametrize("of_run", [0.02, 0.1])
def test_three_runs_of_one_start_are_not_three_starts(of_run: float) -> None:
    """Taken for three, they would hold the next start's median a third to four fifths of the time."""
    made = medians(normal(0.1), normal(of_run), 2, runs_each=3)
    runs = made[:, 0].tolist()
    assert not any(expected([("a", value) for value in values]).has_range for values in runs[:10])
    as_if = np.concatenate([made[:, 0][:, :, None], made[:, 1:, :1]], axis=1)
    assert 0.2 < coverage(as_if) < 0.8


def test_the_pooled_spread_covers_another_day_where_starts_of_one_day_do_not() -> None:
    """Starts of one day share its effect: by themselves they promise far too much."""
    rng = np.random.default_rng(12)
    start, day = 0.05, 0.2
    hits = {0.0: 0, math.hypot(start, day): 0}
    for _ in range(2_000):
        *landed, other_day = np.exp(rng.normal(0, start, 4) + day * rng.normal(size=2)[[0, 0, 0, 1]])
        for deviation in hits:
            found = expected(list(zip("abc", landed, strict=True)), (), deviation)
            hits[deviation] += found.low <= other_day <= found.high
    assert hits.pop(0.0) < 0.6 * 2_000
    assert [0.85 * 2_000 < n < 0.97 * 2_000 for n in hits.values()] == [True]


def test_what_hardly_differs_by_start_is_not_widened_to_what_others_do() -> None:
    steady = [("a", 1.0), ("b", 1.005), ("c", 0.995)]
    found = expected(steady, (), 0.2)
    assert 1.03 < found.high < 1.05
    assert expected([("a", 1.0), ("b", 1.1), ("c", 0.9)], (), 0.2).high > 1.3


def test_the_factors_are_those_of_student() -> None:
    from scipy import stats

    for degrees, factor in starts._T.items():
        assert factor == pytest.approx(stats.t.ppf(0.95, degrees), abs=5e-4)


@pytest.mark.parametrize("value", [61.7e-6, 0.1, 1 / 3, 7.0, -2.5, 0.0])
@pytest.mark.parametrize("names", ["a", "ab", "abc", "aabbc", "abcd"])
def test_starts_that_agree_give_their_value_exactly(names: str, value: float) -> None:
    """The logarithm and back would change the last digit."""
    found = expected([(name, value) for name in names])
    assert found.value == value
    assert found.n_starts == len(set(names))
    assert found.has_range is (found.n_starts >= 3)


def test_a_range_is_never_narrower_than_half_a_per_cent_nor_than_the_spread_inside() -> None:
    same = [(name, 100.0) for name in "abc"]
    bare = expected(same)
    assert (bare.low, bare.high) == (99.5, 100.5)
    wide = expected(same, [(90.0, 120.0), (95.0, 110.0), (80.0, 105.0)])
    assert (wide.low, wide.high) == pytest.approx((90.0, 110.0))


@pytest.mark.parametrize("names", ["a", "aa", "ab", "abb"])
def test_with_fewer_than_three_starts_there_is_no_range(names: str) -> None:
    found = expected([(name, 1.0 + i) for i, name in enumerate(names)])
    assert (found.low, found.high) == (found.value, found.value)


def test_without_a_run_nothing_is_expected() -> None:
    with pytest.raises(ArgumentError, match="at least one run; got none"):
        expected([])


def test_starts_far_apart_give_numbers_still() -> None:
    found = expected([("a", 1e-9), ("b", 1.0), ("c", 1e9)])
    assert 0 < found.low < found.high < math.inf


# Studies of several runs.


def runs(*factors: float, names: str = "abcdefghi", base: Results | None = None) -> Results:
    """The study of `study_results`, each run with its GPU times multiplied; the last is the newest."""
    base = base or make()

    def one(factor: float, start: str) -> Results:
        cells = tuple(
            replace(
                m, samples_ns=tuple(round(ns * (factor if m.clock == "device" else 1)) for ns in m.samples_ns)
            )
            for m in base.measurements
        )
        return replace(base, measurements=cells, start=start)

    each = [one(factor, start) for factor, start in zip(factors, names, strict=False)]
    return replace(each[-1], others=tuple(each[:-1]))


THREE = runs(1.0, 1.05, 1.01)
BIG = SIZES[2]


def test_a_time_is_the_median_over_the_starts_with_its_range() -> None:
    found = THREE.time("four", BIG)
    assert found.value == 161.6e-6
    assert found.low < 160e-6
    assert found.high > 168e-6
    assert (found.n, found.n_starts, found.n_runs) == (18, 3, 3)
    assert THREE.measurement("four", BIG).median_s == 161.6e-6  # the newest run's
    assert THREE.series("four").medians_s[2] == found.value
    assert [run.value for run in THREE.by_run("four", BIG)] == pytest.approx([160e-6, 168e-6, 161.6e-6])


def test_the_value_does_not_depend_on_which_run_is_newest() -> None:
    orders = [(1.0, 1.05, 1.01), (1.05, 1.01, 1.0), (1.01, 1.0, 1.05)]
    found = [runs(*order).time("four", BIG) for order in orders]
    assert len({each.value for each in found}) == 1
    assert [(each.low, each.high) for each in found] == [pytest.approx((found[0].low, found[0].high))] * 3


def test_what_a_number_rests_on_is_said_in_words() -> None:
    assert THREE.time("four", BIG).basis == (
        "3 machine starts, 18 samples; another is expected between 150 µs and 178 µs"
    )
    assert runs(1.0).time("four", BIG).basis == "one machine start, 6 samples"
    assert runs(1.0, 1.1).time("four", BIG).basis == "two machine starts, 12 samples"
    assert runs(1.0, 1.1, names="aa").time("four", BIG).basis == "one machine start, 2 runs, 12 samples"
    assert runs(1.0, 1.0, 1.0, 1.0, names="abca").time("four", BIG).basis == (
        "3 machine starts, 4 runs, 24 samples; another is expected between 159 µs and 161 µs"
    )
    assert runs(1.0).speedup("four", "one", BIG).basis == "one machine start, 3 rounds"


def test_fewer_than_three_starts_show_two_digits() -> None:
    assert str(runs(1.0, 1.01).time("four", BIG)) == "160 µs"
    assert str(runs(1.0).quantity("four", BIG, "rate")) == "3.4 TB/s"
    steady = Quantity(123.4e-6, 123.4e-6, 123.4e-6, "s", 20)
    assert (str(steady), steady.interval) == ("120 µs", "")
    assert str(replace(steady, low=122.8e-6, high=124.0e-6, n_starts=3)) == "123 µs"


def test_what_moves_by_half_has_one_digit_or_two_after_a_one() -> None:
    swinging = runs(1.0, 1.4, 0.8).time("four", BIG)
    assert str(swinging) == "160 µs"
    assert str(runs(2.0, 2.8, 1.6).time("four", BIG)) == "300 µs"
    assert swinging.interval.startswith("60 µs to ")


def test_ratios_are_taken_inside_each_run() -> None:
    """A host that is slow in one run slows both sides: the ratio is the same in all."""
    found = runs(1.0, 3.0, 0.5).speedup("four", "one", BIG)
    assert (found.value, found.n) == (pytest.approx(1.25), 9)
    assert (found.low, found.high) == pytest.approx((1.25 * 0.995, 1.25 * 1.005))


def test_each_run_is_held_against_its_own_ceilings() -> None:
    slow_memory = replace(
        CEILINGS, items=tuple(replace(item, value=item.value / 2) for item in CEILINGS.items)
    )
    study = runs(1.0, 2.0, 1.0)
    half = replace(study.others[1], ceilings=slow_memory)
    study = replace(study, others=(study.others[0], half))
    found = study.share("four", BIG)
    assert found is not None
    assert found.value == pytest.approx(0.8388608)
    assert (found.low, found.high) == pytest.approx((0.8388608 / 1.0075, 0.8388608 / 0.9925), rel=2e-3)


def test_a_share_and_its_range_stay_at_most_one() -> None:
    fast = make(sizes=(BIG,), measurements=(cell("four", BIG, 135_000),))
    found = runs(1.0, 1.05, 1.02, base=fast).share("four", BIG)
    assert found is not None
    assert found.value < found.high == 1.0


def test_a_rate_has_its_range_too() -> None:
    found, time_ = THREE.rate("four", BIG), THREE.time("four", BIG)
    assert found is not None
    assert found.value == pytest.approx(2**29 / time_.value)
    assert (found.low, found.high) == pytest.approx((2**29 / time_.high, 2**29 / time_.low), rel=1e-3)
    bare = replace(make(), measurements=(cell("one", BIG, 5, traffic=None),))
    assert bare.rate("one", BIG) is None


def test_the_crossover_is_that_of_the_medians_over_the_starts() -> None:
    """In the newest run alone `one` is never faster."""
    assert runs(1.0, 1.0, 500.0).crossover("numpy", "one") == Crossover(SIZES[0], SIZES[1])
    assert runs(500.0).crossover("numpy", "one") is None


def test_what_the_newest_run_lacks_comes_from_the_others() -> None:
    newest = replace(
        THREE,
        measurements=tuple(
            Measurement(m.variant, m.size, m.clock, reason="the time was used up") if m.size == BIG else m
            for m in THREE.measurements
        ),
    )
    assert newest.time("four", BIG).n_starts == 2
    assert newest.series("four").sizes == SIZES
    row = newest.table(sizes=[BIG]).text().splitlines()[-1]
    assert "Four a thread" in row
    assert "not measured" not in row


def test_the_table_and_the_csv_are_over_the_starts() -> None:
    lines = THREE.table(sizes=[BIG]).text().splitlines()
    assert lines[0] == "Add one (float32, warm cache, 3 machine starts)"
    assert "another start" in lines[1]
    assert "spread" not in lines[1]
    assert "160 µs  150 µs to 178 µs  18" in lines[-2]
    assert (
        lines[-1] == "Another machine start's median is expected in the range given, nine times out of ten."
    )
    found = THREE.time("four", BIG)
    head, *rows = THREE.table(sizes=[BIG]).csv().splitlines()
    raw = dict(zip(head.split(","), rows[-1].split(","), strict=True))
    assert (raw["n_starts"], raw["n_runs"], raw["n"]) == ("3", "3", "18")
    assert [float(raw[name]) for name in ("median_s", "low_s", "high_s")] == [
        found.value,
        found.low,
        found.high,
    ]
    assert repr(THREE).endswith("float32, 3 machine starts>")


def test_remarks_name_what_is_not_so_in_every_run() -> None:
    def with_cell(run: Results, **changes: object) -> Results:
        return replace(
            run,
            measurements=tuple(
                replace(m, **changes) if (m.variant, m.size, m.clock) == ("four", BIG, "device") else m
                for m in run.measurements
            ),
        )

    modes = ("two modes: the median stands for neither",)
    newest = with_cell(THREE, notes=modes, method="graph")
    study = replace(newest, others=(with_cell(THREE.others[0], host_bound=True), THREE.others[1]))
    assert study.remarks("four", BIG) == (
        "two modes: the median stands for neither (in 1 of 3 runs)",
        "host-bound (in 1 of 3 runs)",
        "timed in different ways: of 3 runs 2 by events, 1 by graph",
    )
    assert with_cell(runs(1.0), notes=modes).remarks("four", BIG) == modes
    assert THREE.remarks("four", BIG) == ()
    assert "two modes" in study.table().text()


# Claims.


def test_a_claim_holds_in_every_run() -> None:
    verdict = decide(Faster("four", ("one",), BIG), THREE)
    assert (verdict.result.holds, verdict.result.swapped, verdict.why) == (True, False, "")
    assert str(verdict.figures[0]) == "speedup over “One a thread”: 1.25× (1.244× to 1.256×)"


def one_odd_run(odd: int) -> Results:
    """Three runs; in the odd one `four` is the slower."""
    swapped = [run.swap_samples("four", "one") if i == odd else run for i, run in enumerate(THREE.runs)]
    return replace(swapped[-1], others=tuple(swapped[:-1]))


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_a_claim_that_holds_in_some_runs_is_inconclusive(odd: int) -> None:
    """Whichever run it is, and although the median over the starts bears it out."""
    study = one_odd_run(odd)
    assert study.speedup("four", "one", BIG).value > 1
    verdict = decide(Faster("four", ("one",), BIG), study)
    assert verdict.result.holds is None
    assert verdict.why.startswith(f"it holds in 2 of 3 runs, not in run {odd + 1} (0.8")


def test_a_claim_that_holds_in_no_run_is_wrong() -> None:
    assert decide(Faster("one", ("four",), BIG), THREE).result.holds is False


def test_a_share_is_claimed_of_every_run() -> None:
    study = runs(1.0, 1.0, 1.1, base=replace(sample_results()))
    assert decide(ReachesShare("numba", 2**26, 0.8), study).result.holds is True
    verdict = decide(ReachesShare("numba", 2**26, 0.87), study)
    assert verdict.result.holds is None
    assert verdict.why == "it holds in 2 of 3 runs, not in run 3 (82 %)"


def test_a_run_without_the_cell_decides_nothing() -> None:
    first = THREE.others[0]
    lacking = replace(
        first, measurements=tuple(m for m in first.measurements if (m.variant, m.size) != ("four", BIG))
    )
    study = replace(THREE, others=(lacking, THREE.others[1]))
    verdict = decide(Faster("four", ("one",), BIG), study)
    assert verdict.result.holds is None
    assert verdict.why == "in run 1, 'four' was not measured at 2^26 (this run has no kernel time)"


# Facts.


def facts(*values: float | str, unit: str = "s", samples: bool = False) -> Fact:
    def of(value: float | str) -> Fact:
        spread = (0.99 * value, value, 1.01 * value) if samples and isinstance(value, float) else ()
        return Fact("copy", value, unit, spread)

    return Fact.over_starts([(start, of(value)) for start, value in zip("abcdefghi", values, strict=False)])


def test_a_fact_is_the_median_over_the_starts_with_its_range() -> None:
    made = facts(0.40, 0.42, 0.41, samples=True)
    assert (made.value, made.shown, len(made.samples)) == (0.41, "410 ms", 3)
    assert made.basis == "3 machine starts, 9 samples; another is expected between 378 ms and 445 ms"


def test_a_fact_counts_no_samples_where_those_of_former_runs_are_not_kept() -> None:
    newest = Fact("f", 4.01, "s", (3.0, 4.0, 5.0))
    made = Fact.over_starts([("a", Fact("f", 4.0, "s")), ("b", Fact("f", 4.0, "s")), ("c", newest)])
    # The spread inside the newest stands for the others', too.
    assert made.basis == "3 machine starts; another is expected between 3.49 s and 4.49 s"
    assert made.samples == (3.0, 4.0, 5.0)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (5.2, "1", "5.2"),
        (15.0, "1", "15"),
        (0.7, "1", "0.7"),
        (0.5, "share", "50 %"),
        (1e-3, "s", "1 ms"),
        (0.09196, "share", "9.20 %"),
        (100.0, "1", "100"),
    ],
)
def test_a_fact_that_is_the_same_in_all_runs_has_no_zeros_added(value, unit, shown) -> None:
    same = Fact.over_starts([(start, Fact("f", value, unit)) for start in "abc"])
    assert same.shown == shown


def test_a_fact_of_one_or_two_starts_says_so() -> None:
    assert facts(0.4123, samples=True).basis == "one machine start, 3 samples"
    assert facts(0.4123, samples=True).shown == "410 ms"
    assert (facts(0.41, 0.42).shown, facts(0.41, 0.42).basis) == ("410 ms", "two machine starts")


def test_counts_stay_counts_and_what_agrees_is_exact() -> None:
    same = facts(65_537, 65_537, 65_537, unit="1")
    assert (same.value, same.shown) == (65_537, "65 537")
    assert same.basis == "the same in all of 3 runs on 3 machine starts"
    differing = facts(4, 5, unit="1")
    assert isinstance(differing.value, int)


def test_of_texts_the_newest_is_shown() -> None:
    assert facts("12.9", "13.0", unit="text").value == "13.0"


def test_a_fact_of_another_unit_is_not_mixed_in() -> None:
    other = [("a", Fact("copy", 3.0, "B/s")), ("b", Fact("copy", 0.5, "s"))]
    assert Fact.over_starts(other).value == 0.5
    with pytest.raises(ArgumentError, match="at least one run; got none"):
        Fact.over_starts([])


# Speed.
