"""What can be asked of results."""

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results.records import CheckResult, Traffic
from gpuguide.results.results import Crossover, InRun, Results
from study_results import SIZES, VARIANTS, cell, make, missing


def test_measurement_finds_its_cell() -> None:
    results = make()
    assert results.measurement("four", SIZES[2]).median_s == 160e-6
    assert results.measurement("four", SIZES[2], "launch").median_s == 5e-6
    assert results.measurement("numpy", SIZES[0]).clock == "host"


def test_a_cell_that_is_not_there_says_so() -> None:
    absent = make().measurement("one", SIZES[0], "end_to_end")
    assert (absent.n, absent.reason) == (0, "this run has no end to end time")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.variant("for"), "Unknown variant 'for'. Did you mean 'four'?"),
        (lambda r: r.measurement("fuor", SIZES[0]), "Unknown variant 'fuor'. Did you mean 'four'?"),
        (lambda r: r.measurement("four", 1025), "Unknown size 1025. Did you mean 1024?"),
        (
            lambda r: r.measurement("four", SIZES[0], "devise"),
            "Unknown clock 'devise'. Did you mean 'device'?",
        ),
        (lambda r: r.series("fuor"), "Unknown variant 'fuor'. Did you mean 'four'?"),
        (lambda r: r.series("fuor", "launch"), "Unknown variant 'fuor'. Did you mean 'four'?"),
        (
            lambda r: r.measurement("fuor", SIZES[0], "host"),
            "Unknown variant 'fuor'. Did you mean 'four'?",
        ),
        (lambda r: r.has("fuor", SIZES[0], "host"), "Unknown variant 'fuor'. Did you mean 'four'?"),
        (lambda r: r.table(sizes=[1025]), "Unknown size 1025. Did you mean 1024?"),
        (lambda r: r.quantity("four", SIZES[0], "tine"), "Unknown quantity 'tine'. Did you mean 'time'?"),
        (lambda r: r.speedup("four", "nunpy", SIZES[0]), "Unknown variant 'nunpy'. Did you mean 'numpy'?"),
        (lambda r: r.crossover("nunpy", "four"), "Unknown variant 'nunpy'. Did you mean 'numpy'?"),
        (lambda r: r.swap_samples("fuor", "one"), "Unknown variant 'fuor'. Did you mean 'four'?"),
    ],
)
def test_unknown_names_are_told_with_the_nearest(ask: Callable[[Results], Any], message: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        ask(make())
    assert str(error.value) == message


def test_series_leaves_out_what_has_reasons() -> None:
    assert make().series("numpy") == (SIZES[:2], (2e-6, 800e-6))
    assert make().series("four", "launch") == (SIZES[2:], (5e-6,))


def test_speedup_is_baseline_over_candidate_by_rounds() -> None:
    ratio = make().speedup("four", "one", SIZES[2])
    assert (ratio.value, ratio.low, ratio.high, ratio.n) == pytest.approx((1.25, 1.25, 1.25, 3))


def test_speedup_without_common_rounds_is_cautious() -> None:
    cells = (
        cell("one", 8, 0, samples_ns=(40, 44), rounds=(0, 1)),
        cell("four", 8, 0, samples_ns=(20, 22), rounds=(2, 3)),
    )
    (ratio,) = make(sizes=(8,), measurements=cells).by_run("four", 8, "speedup", "one")
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 1.9338, 2.0685), abs=1e-4)


def test_a_pause_of_the_host_in_a_round_of_few_samples_does_not_decide_a_speedup() -> None:
    """On the CPU, 8 us in 94 of 100 samples, but two rounds of three hold pauses of 5 ms."""
    cells = (
        cell(
            "numpy",
            8,
            0,
            samples_ns=(5_000_000, 5_000_000, 5_000_000, 8_000, *[8_000] * 96),
            rounds=(0, 0, 1, 1, *[2] * 96),
        ),
        cell("four", 8, 0, samples_ns=(1_000,) * 6, rounds=(0, 0, 1, 1, 2, 2)),
    )
    assert make(sizes=(8,), measurements=cells).speedup("four", "numpy", 8).value == 8.0


def test_speedup_uses_common_rounds_alone() -> None:
    """Three rounds of one side only, of another speed, do not count."""
    cells = (
        cell("one", 8, 0, samples_ns=(40, 40, 40, 900, 900, 900), rounds=(0, 1, 2, 3, 4, 5)),
        cell("four", 8, 0, samples_ns=(20, 20, 20), rounds=(0, 1, 2)),
    )
    assert make(sizes=(8,), measurements=cells).speedup("four", "one", 8).value == 2.0


def test_speedup_over_what_was_not_measured_says_why() -> None:
    with pytest.raises(ArgumentError) as error:
        make().speedup("four", "numpy", SIZES[2])
    assert str(error.value) == "'numpy' at 2^26 has no samples: skipped: the previous size predicts 3 s."


def crossing(slow: dict[int, int | None], fast: dict[int, int | None]) -> Results:
    """Results of `one` and `four` with these times in ns; None is a cell without samples."""
    pairs = [("one", slow), ("four", fast)]
    cells = [
        missing(name, size, "out of memory") if ns is None else cell(name, size, ns)
        for name, times in pairs
        for size, ns in times.items()
    ]
    return make(sizes=tuple(slow), measurements=tuple(cells))


@pytest.mark.parametrize(
    ("one", "four", "expected"),
    [
        ([10, 20, 40, 80], [30, 30, 30, 30], Crossover(2, 3)),
        ([10, 40, 20, 80], [30, 30, 30, 30], Crossover(3, 4)),
        ([10, 20, 30, 80], [30, 30, 30, 30], Crossover(2, 4)),
        ([10, None, 40, 80], [30, 30, 30, 30], Crossover(1, 3)),
        ([10, 20, 40, None], [30, 30, 30, 30], Crossover(2, 3)),
        ([10, 20, 40, 80], [30, 30, None, 30], Crossover(2, 4)),
        ([40, 40, 40, 80], [30, 30, 30, 30], None),
        ([10, 20, 20, 20], [30, 30, 30, 30], None),
        ([10, 80, 80, 20], [30, 30, 30, 30], None),
        ([10, 20, 40, 30], [30, 30, 30, 30], None),
        ([None, None, None, None], [30, 30, 30, 30], None),
    ],
    ids=[
        "once",
        "last of three",
        "equal is inside",
        "gap in a",
        "end missing",
        "gap in b",
        "always faster",
        "never faster",
        "not to the end",
        "equal at the end",
        "nothing in common",
    ],
)
def test_crossover_is_the_bracket_that_lasts(
    one: list[int | None], four: list[int | None], expected: Crossover | None
) -> None:
    results = crossing(dict(enumerate(one, start=1)), dict(enumerate(four, start=1)))
    assert results.crossover("one", "four") == expected


@pytest.mark.parametrize(
    ("size", "quantity", "expected"),
    [
        (2**26, "time", InRun("", 160e-6, 158.8e-6, 161.2e-6, 6)),
        (2**26, "launch", InRun("", 5e-6, 4.9625e-6, 5.0375e-6, 6)),
        (2**26, "rate", InRun("", 2**29 / 160e-6, 2**29 / 161.2e-6, 2**29 / 158.8e-6, 6)),
        (2**20, "flop_rate", InRun("", 2**20 / 4e-6, 2**20 / 4.03e-6, 2**20 / 3.97e-6, 6)),
        (2**26, "share", InRun("", 2**29 / 640e6, 2**29 / 644.8e6, 2**29 / 635.2e6, 6)),
        (2**26, "flop_share", InRun("", 2**26 / 8e9, 2**26 / 8.06e9, 2**26 / 7.94e9, 6)),
    ],
)
def test_one_run_gives_value_and_quartiles_and_its_start_no_range(
    size: int, quantity: str, expected: InRun
) -> None:
    (got,) = make().by_run("four", size, quantity)
    assert got[1:] == pytest.approx(expected[1:], rel=1e-4)
    over = make().quantity("four", size, quantity)
    assert (over.value, over.low, over.high, over.has_range) == (got.value, got.value, got.value, False)


def test_the_interval_of_a_share_ends_at_one() -> None:
    results = make(sizes=(2**26,), measurements=(cell("four", 2**26, 135_000),))
    (found,) = results.by_run("four", 2**26, "share")
    assert (found.value < 1, found.high) == (True, 1.0)


def test_a_ratio_names_both_sides_and_their_regions() -> None:
    quantity = make().quantity("four", 2**20, "speedup", baseline="numpy")
    assert (str(quantity), quantity.unit, quantity.n) == ("200×", "ratio", 3)
    assert quantity.ratio_of == "NumPy (CPU, 1 thread) / Four a thread (kernel)"


@pytest.mark.parametrize(
    ("results", "ask", "message"),
    [
        (
            make(),
            ("numpy", 2**26, "time"),
            "'numpy' at 2^26 has no samples: skipped: the previous size predicts 3 s.",
        ),
        (make(), ("one", 2**26, "launch"), "'one' at 2^26 has no samples: this run has no launch time."),
        (
            make(),
            ("four", 2**20, "share"),
            (
                "'four' at 2^20 has no share: its working set is below four times the L2 "
                "cache, which serves part of it."
            ),
        ),
        (
            make(),
            ("numpy", 2**20, "share"),
            "'numpy' at 2^20 has no share: only times of the kernel clock have a share of a ceiling.",
        ),
        (
            make(ceilings=None),
            ("four", 2**26, "share"),
            "'four' at 2^26 has no share: this run has no such ceiling, or the L2 size is unknown.",
        ),
        (
            make(ceilings=None),
            ("four", 2**26, "flop_share"),
            "'four' at 2^26 has no flop_share: this run has no such ceiling, or the L2 size is unknown.",
        ),
        (
            make(measurements=(cell("one", 2**26, 5, traffic=None),)),
            ("one", 2**26, "rate"),
            "'one' at 2^26 has no rate: its traffic model counts no bytes.",
        ),
        (
            make(measurements=(cell("one", 2**26, 5, traffic=Traffic(8)),)),
            ("one", 2**26, "flop_rate"),
            "'one' at 2^26 has no flop_rate: its traffic model counts no operations.",
        ),
        (make(), ("four", 2**26, "speedup"), "Quantity 'speedup' takes a baseline; got None."),
        (make(), ("four", 2**26, "time", "one"), "Quantity 'time' takes no baseline; got 'one'."),
    ],
)
def test_a_quantity_that_is_not_there_says_why(results: Results, ask: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        results.quantity(*ask)
    assert str(error.value) == message


def test_swapped_samples_flip_every_claim() -> None:
    """Nothing is cached: an answer given before does not survive in the copy."""
    results = make()
    assert results.speedup("four", "one", 2**26).low > 1
    assert results.crossover("numpy", "one") == Crossover(2**10, 2**20)
    swapped = results.swap_samples("four", "one")
    assert swapped.speedup("four", "one", 2**26).high < 1
    assert swapped.share("four", 2**26) == results.share("one", 2**26)
    assert results.swap_samples("numpy", "one").crossover("numpy", "one") is None
    assert swapped.swap_samples("four", "one") == results


def test_swapping_takes_everything_that_belongs_to_the_samples() -> None:
    slow = cell("one", 8, 40, n_calls=4, method="graph", host_bound=True, floor_ns=3, notes=("kept",))
    fast = cell("four", 8, 20)
    results = make(sizes=(8,), measurements=(slow, fast)).swap_samples("one", "four")
    one, four = results.measurement("one", 8), results.measurement("four", 8)
    taken = ("samples_ns", "rounds", "n_calls", "method", "host_bound", "floor_ns")
    assert [getattr(four, name) for name in taken] == [getattr(slow, name) for name in taken]
    assert [getattr(one, name) for name in taken] == [getattr(fast, name) for name in taken]
    assert (one.notes, one.variant, four.variant) == (("kept",), "one", "four")


def test_launches_are_swapped_with_the_rest() -> None:
    """A claim on launches must flip, too."""
    launches = [cell(name, 8, ns, clock="launch") for name, ns in (("one", 40), ("four", 20))]
    cells = (cell("one", 8, 4), launches[0], cell("four", 8, 2), launches[1])
    swapped = make(sizes=(8,), measurements=cells).swap_samples("one", "four")
    assert [swapped.measurement(name, 8, "launch").samples_ns for name in ("one", "four")] == [
        launch.samples_ns for launch in reversed(launches)
    ]
    assert swapped.measurement("one", 8).samples_ns == cells[2].samples_ns


def test_what_only_one_of_them_has_stays() -> None:
    results = make().swap_samples("numpy", "one")
    assert results.measurement("numpy", SIZES[2]).reason
    assert results.measurement("one", SIZES[2]).median_s == 200e-6


def check(variant: str, size: int, kind: str, difference: float, tolerance: float) -> CheckResult:
    return CheckResult(variant, size, kind, difference, tolerance)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([], "No variant was checked."),
        (
            [
                check(variant.name, size, *outcome)
                for variant in VARIANTS
                for size in SIZES
                for outcome in (("exact", 0.0, 0.0), ("random", 2.1e-7, 1.4e-6))
            ],
            (
                "All 3 variants were right at 3 sizes; largest difference 0 (exact) "
                "and 2.1e-07 of allowed 1.4e-06 (random)."
            ),
        ),
        (
            [
                check("one", SIZES[0], "random", 1e-7, 1e-6),
                check("one", SIZES[1], "random", 8e-8, 1e-7),
                check("four", SIZES[1], "after", 2e-7, 1e-6),
            ],
            (
                "The 2 variants that ran were right at each of their sizes, 2 in all; "
                "largest difference 8e-08 of allowed 1e-07 (random)."
            ),
        ),
        (
            [check("one", SIZES[0], "exact", 0.0, 0.0)],
            "The one variant that ran was right at 1 size; largest difference 0 (exact).",
        ),
        (
            [check("one", SIZES[0], "exact", 0.0, 0.0), check("four", SIZES[1], "random", 3e-6, 1e-6)],
            "'four' is wrong at 2^20: 3e-06 of allowed 1e-06 (random).",
        ),
        (
            [check("one", SIZES[0], "exact", 1.0, 0.0), check("four", SIZES[1], "random", 3e-6, 1e-6)],
            "'one' is wrong at 2^10: 1 of allowed 0 (exact).",
        ),
    ],
)
def test_checks_line(checks: list[CheckResult], expected: str) -> None:
    assert make(checks=tuple(checks)).checks_line() == expected


def test_one_variant_alone_is_not_all() -> None:
    results = make(
        variants=VARIANTS[1:2],
        measurements=(),
        checks=(check("one", SIZES[0], "exact", 0.0, 0.0),),
    )
    assert results.checks_line() == ("The variant was right at 1 size; largest difference 0 (exact).")


def test_results_are_short_in_a_traceback() -> None:
    assert repr(make()) == "<Results of 'add': 3 variants, 3 sizes, float32, one machine start>"


def test_results_load_nothing_heavy() -> None:
    heavy = ("matplotlib", "scipy", "numba", "cupy")
    code = f"import sys, gpuguide.results.results; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("threads", "words"), [(None, "CPU"), (1, "CPU, 1 thread"), (16, "CPU, 16 threads")])
def test_a_ratio_tells_the_threads_of_its_baseline(threads: int | None, words: str) -> None:
    variants = (dataclasses.replace(VARIANTS[0], threads=threads), *VARIANTS[1:])
    quantity = make(variants=variants).quantity("four", 2**20, "speedup", "numpy")
    assert quantity.ratio_of == f"NumPy ({words}) / Four a thread (kernel)"
