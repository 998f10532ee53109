"""Claims as data: their sentences, when they hold, and what cannot be decided."""

from dataclasses import replace

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results.claims import Faster, Figure, ReachesShare, decide
from gpuguide.results.records import Measurement, Traffic, VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.sample import sample_results
from gpuguide.results.starts import Quantity

SIZE = 2**26

INFOS = (
    VariantInfo("one", "one a thread"),
    VariantInfo("grid", "cuda.grid"),
    VariantInfo("copies", "with copies", clock="end_to_end"),
    VariantInfo("loop", "loop", device="cpu", clock="host", threads=16),
    VariantInfo("numpy", "NumPy", device="cpu", clock="host", threads=1),
)


def cell(variant: str, *samples_ns: int, clock: str = "device") -> Measurement:
    return Measurement(variant, 1024, clock, samples_ns, tuple(range(len(samples_ns))))


def made(*cells: Measurement, size_name: str = "elements", quick: bool = False) -> Results:
    return Results("add", "Add one", size_name, "float32", "", "", "warm", INFOS, (1024,), cells, quick=quick)


TIMES = made(
    cell("one", 400, 410, 420),
    cell("grid", 200, 200, 200),
    cell("copies", 900, 910, 920, clock="end_to_end"),
    cell("loop", 600, 610, 620, clock="host"),
    cell("numpy", 800, 810, 820, clock="host"),
    cell("one", 50, 50, 50, clock="launch"),
    cell("grid", 70, 80, 90, clock="launch"),
)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (Faster("grid", ("one",), 1024), "cuda.grid is faster than “one a thread” {} (device time)"),
        (
            Faster("grid", ("numpy",), 1024),
            "cuda.grid is faster than NumPy on 1 thread {} (device time against host time)",
        ),
        (
            Faster("loop", ("numpy", "copies"), 1024),
            "“loop” on 16 threads is faster than NumPy on 1 thread and “with copies” {} "
            "(host time against host time and end-to-end time)",
        ),
        (
            Faster("grid", ("one", "loop", "numpy"), 1024, by=1.5),
            "cuda.grid is at least 1.5 times as fast as “one a thread”, “loop” on 16 threads and NumPy on "
            "1 thread {} (device time against device time and host time)",
        ),
        (
            Faster("one", ("grid",), 1024, clock="launch"),
            "“one a thread” is faster than cuda.grid {} (launch time)",
        ),
        (
            ReachesShare("grid", 1024, 0.985),
            "cuda.grid reaches at least 98.5 % of its ceiling {} (device time)",
        ),
    ],
)
def test_the_sentence_is_made_of_labels_sizes_clocks_and_factor(claim: Faster, sentence: str) -> None:
    text = decide(claim, TIMES).result.text
    assert text == "Add one: " + sentence.format("at 2^10 elements")


@pytest.mark.parametrize(
    ("label", "threads", "called"),
    [
        ("NumPy, one thread", 1, "“NumPy, one thread”"),
        ("primesieve, 16 threads", 16, "“primesieve, 16 threads”"),
        ("NumPy, all threads", 16, "“NumPy, all threads” on 16 threads"),
        ("NumPy", 1, "NumPy on 1 thread"),
    ],
)
def test_a_label_that_names_its_threads_is_enough(label: str, threads: int, called: str) -> None:
    info = VariantInfo("numpy", label, device="cpu", clock="host", threads=threads)
    text = decide(Faster("grid", ("numpy",), 1024), replace(TIMES, variants=(*INFOS[:-1], info))).result.text
    assert f"faster than {called} at" in text


def test_a_size_that_counts_nothing_stands_behind_its_name() -> None:
    limits = replace(TIMES, size_name="upper end")
    assert "at upper end 2^10 (" in decide(Faster("grid", ("one",), 1024), limits).result.text


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (Faster("grid", ("one",), 1024), True),
        (Faster("one", ("grid",), 1024), False),
        (Faster("grid", ("one",), 1024, by=1.99), True),
        (Faster("grid", ("one",), 1024, by=2.03), False),  # the lower quartile of the ratios
        (Faster("grid", ("one", "numpy"), 1024, by=1.9), True),
        (Faster("grid", ("numpy", "one"), 1024, by=3), False),  # one of the two is too near
        (Faster("grid", ("one", "numpy"), 1024, by=3), False),
        (Faster("one", ("grid",), 1024, clock="launch"), True),
        (Faster("grid", ("one",), 1024, clock="launch"), False),
    ],
)
def test_it_holds_down_to_the_lower_quartile_of_each_ratio(claim: Faster, holds: bool) -> None:
    assert decide(claim, TIMES).result.holds is holds


def test_a_ratio_whose_spread_reaches_the_factor_does_not_hold() -> None:
    noisy = made(cell("one", 2900, 3100, 3200), cell("grid", 3000, 2900, 3100))
    assert noisy.speedup("grid", "one", 1024).value > 1
    assert decide(Faster("grid", ("one",), 1024), noisy).result.holds is False


def test_what_is_nearest_to_failing_is_kept_and_the_times_are_shown() -> None:
    verdict = decide(Faster("grid", ("numpy", "one"), 1024), TIMES)
    (ratio,) = TIMES.by_run("grid", 1024, "speedup", "one")
    assert (verdict.result.low, verdict.result.high, verdict.result.unit) == (ratio.low, ratio.high, "ratio")
    assert [figure.name for figure in verdict.figures] == [
        "speedup over NumPy",
        "speedup over “one a thread”",
        "cuda.grid, device time",
        "NumPy, host time",
        "“one a thread”, device time",
    ]
    assert [figure.found.value for figure in verdict.figures[2:]] == [200e-9, 810e-9, 410e-9]


def test_on_a_clock_of_its_own_choice_it_shows_the_times_of_that_clock() -> None:
    verdict = decide(Faster("one", ("grid",), 1024, clock="launch"), TIMES)
    assert [(figure.name, figure.found.value) for figure in verdict.figures[1:]] == [
        ("“one a thread”, launch time", 50e-9),
        ("cuda.grid, launch time", 80e-9),
    ]


@pytest.mark.parametrize("than", [("one",), ("one", "numpy"), ("numpy", "one")])
def test_it_is_decided_again_with_swapped_samples(than: tuple[str, ...]) -> None:
    assert decide(Faster("grid", than, 1024), TIMES).result.swapped is False
    assert decide(Faster("one", ("grid",), 1024), TIMES).result.swapped is None  # does not hold at all


def test_a_claim_that_does_not_look_at_the_samples_survives_the_swap() -> None:
    class Believer(Faster):
        def holds(self, figures: object) -> bool:
            return True

    assert decide(Believer("grid", ("one",), 1024), TIMES).result.swapped is True


@pytest.mark.parametrize(("at_least", "holds"), [(0.89, True), (0.91, False), (0.95, False)])
def test_a_share_holds_when_none_of_its_interval_lies_below(at_least: float, holds: bool) -> None:
    results = sample_results()
    (found,) = results.by_run("numba", SIZE, "share")
    assert 0.89 < found.low < 0.91 < found.value < 0.95
    verdict = decide(ReachesShare("numba", SIZE, at_least), results)
    assert verdict.result.holds is holds
    assert (verdict.result.low, verdict.result.high, verdict.result.unit) == (found.low, found.high, "share")
    assert verdict.result.swapped is None
    assert [figure.name for figure in verdict.figures] == [
        "Numba, share of its ceiling",
        "Numba, device time",
    ]


def test_the_lower_quartile_may_equal_the_share() -> None:
    low = sample_results().by_run("numba", SIZE, "share")[-1].low
    assert decide(ReachesShare("numba", SIZE, low), sample_results()).result.holds is True


@pytest.mark.parametrize(
    ("claim", "error", "message"),
    [
        (Faster("gird", ("one",), 1024), UnknownNameError, "Unknown variant 'gird'. Did you mean 'grid'"),
        (Faster("grid", ("numpi",), 1024), UnknownNameError, "Unknown variant 'numpi'. Did you mean 'numpy'"),
        (Faster("grid", ("one",), 1025), UnknownNameError, "Unknown size 1025. Did you mean 1024"),
        (
            Faster("grid", ("one",), 1024, clock="lunch"),
            UnknownNameError,
            "Unknown clock 'lunch'. Did you mean 'launch'",
        ),
        (
            Faster("grid", ("numpy",), 1024, clock="device"),
            ArgumentError,
            "'numpy' at 2\\^10 was not measured on the clock 'device'; it was measured on 'host'",
        ),
        (ReachesShare("numpy", 1024, 0.9), ArgumentError, "not measured on the clock 'device'"),
    ],
)
def test_what_the_study_does_not_have_is_an_error(
    claim: Faster, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        decide(claim, TIMES)


def test_an_unknown_variant_is_an_error_in_a_quick_run_as_well() -> None:
    with pytest.raises(UnknownNameError, match="Unknown variant"):
        decide(Faster("grid", ("numpi",), SIZE), replace(TIMES, quick=True))


def test_a_quick_run_may_lack_the_size_of_a_claim() -> None:
    """A preview runs the smallest sizes alone."""
    verdict = decide(Faster("grid", ("one",), SIZE), replace(TIMES, quick=True))
    assert verdict.result.holds is None
    assert verdict.figures == ()
    assert verdict.why == "this quick run has no size 2^26"


def test_what_this_machine_could_not_measure_decides_nothing() -> None:
    """Without a GPU its cells have a reason, or there is none."""
    why = "'grid' was not measured at 2^10 ({})"
    reason = Measurement("grid", 1024, "device", reason="no GPU on this machine")
    host = cell("numpy", 800, 810, clock="host")
    claim = Faster("numpy", ("grid",), 1024)
    assert decide(claim, made(host, reason)).why == why.format("no GPU on this machine")
    assert decide(claim, made(host)).why == why.format("this run has no kernel time")
    assert decide(claim, made(host)).result.holds is None


def test_without_a_ceiling_a_share_decides_nothing_and_says_why() -> None:
    claim = ReachesShare("grid", 1024, 0.9)
    traffic = Traffic(bytes_read=8, bytes_written=4)
    bare = made(replace(cell("grid", 200), traffic=traffic))
    assert decide(claim, bare).why == (
        "'grid' at 2^10 has no share of a ceiling: this run has no such ceiling, or the L2 size is unknown"
    )
    cached = replace(sample_results(), l2_bytes=10**9)
    verdict = decide(ReachesShare("numba", SIZE, 0.9), cached)
    assert verdict.result.holds is None
    assert verdict.why.endswith("below four times the L2 cache, which serves part of it")


@pytest.mark.parametrize("by", [0, -1, 0.5, float("nan"), float("inf"), "2", None])
def test_a_factor_below_one_is_refused(by: float) -> None:
    with pytest.raises(ArgumentError, match="by is the least factor, a number of at least 1; got "):
        Faster("grid", ("one",), 1024, by=by)


@pytest.mark.parametrize("than", [(), ("grid",), ("one", "one"), ("one", "grid")])
def test_it_compares_with_others_each_once(than: tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError, match="expected other variants than 'grid', each once"):
        Faster("grid", than, 1024)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, 95, float("nan"), "0.9"])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(ArgumentError, match=r"a share is a number above 0 and at most 1, 0\.95 for 95 %"):
        ReachesShare("grid", 1024, share)


def test_a_printed_range_holds_the_printed_figure() -> None:
    found = Quantity(213.9e-6, 213.7e-6, 214.2e-6, "s", 60, n_starts=3, n_runs=3)
    assert str(Figure("sieve, device time", found)) == "sieve, device time: 214 µs (213.7 µs to 214.2 µs)"
    coarser = replace(found, value=213.552e-6, low=213.312e-6, high=213.632e-6)
    assert str(Figure("sieve", coarser)).endswith("214 µs (213 µs to 214 µs)")
    assert str(Figure("sieve", replace(found, n_starts=2))) == "sieve: 210 µs (two machine starts)"
