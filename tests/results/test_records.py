"""What records refuse to hold, and what a measurement says of itself."""

from collections.abc import Callable
from typing import Any

import pytest

from gpuguide.errors import ArgumentError
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import CheckResult, Fact, Measurement, Traffic, VariantInfo
from study_results import SIZES, VARIANTS, cell, make, missing


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Traffic(bytes_read=-8), "Traffic.bytes_read: expected at least 0; got -8."),
        (
            lambda: VariantInfo("a", "A", device="tpu"),
            "VariantInfo.device: expected one of gpu, cpu; got 'tpu'.",
        ),
        (lambda: VariantInfo("a", "A", threads=0), "VariantInfo.threads: expected at least 1; got 0."),
        (
            lambda: Measurement("a", 8, samples_ns=(1, 2), rounds=(0,)),
            "Measurement of 'a' at 8: expected a round for each of 2 samples; got 1.",
        ),
        (
            lambda: Measurement("a", 8),
            "Measurement of 'a' at 8: expected samples, or the reason why there are none; got neither.",
        ),
        (
            lambda: Measurement("a", 8, "device", (1,), (0,), reason="no GPU"),
            (
                "Measurement of 'a' at 8: expected samples, or the reason why there are none; "
                "got samples and the reason 'no GPU'."
            ),
        ),
        (lambda: cell("one", 8, 5, n_calls=0), "Measurement.n_calls: expected at least 1; got 0."),
        (
            lambda: cell("one", 8, 5, samples_ns=(4, -1), rounds=(0, 1)),
            "Measurement.samples_ns: expected at least 0; got -1.",
        ),
        (
            lambda: cell("one", 8, 5, method="guess"),
            "Measurement.method: expected one of events, graph, batch, host, process; got 'guess'.",
        ),
        (
            lambda: CheckResult("a", 8, "loose", 0.0, 0.0),
            "CheckResult.kind: expected one of exact, random, after; got 'loose'.",
        ),
        (
            lambda: CheckResult("a", 8, "exact", float("nan"), 0.0),
            "CheckResult.largest_difference: expected a finite number; got nan.",
        ),
        (
            lambda: Ceilings((Ceiling("read", 1.0, "B/s"), Ceiling("read", 2.0, "B/s"))),
            "Ceilings: expected each mix once; got 'read' again.",
        ),
        (lambda: Fact("mode", float("inf"), "s"), "Fact.value: expected a finite number; got inf."),
        (lambda: Fact("mode", 3, "text"), "Fact 'mode': expected a text for unit 'text'; got 3."),
        (lambda: Fact("mode", True, "1"), "Fact 'mode': expected a number for unit '1'; got True."),
        (
            lambda: Fact("mode", 3, "GB"),
            "Fact.unit: expected one of s, B/s, FLOP/s, ratio, share, B, 1, W, J, Hz, text; got 'GB'.",
        ),
        (
            lambda: make(variants=(*VARIANTS, VARIANTS[0])),
            "Results of 'add': expected each variant once; got 'numpy' again.",
        ),
        (
            lambda: make(sizes=(*SIZES, SIZES[0])),
            "Results of 'add': expected each size once; got 1024 again.",
        ),
        (
            lambda: make(measurements=(cell("one", SIZES[0], 5),) * 2),
            "Results of 'add': expected each measurement once; got ('one', 1024, 'device') again.",
        ),
        (
            lambda: make(measurements=(cell("two", SIZES[0], 5),)),
            "Results of 'add': the study has no variant 'two' at 1024.",
        ),
        (
            lambda: make(checks=(CheckResult("one", 7, "exact", 0.0, 0.0),)),
            "Results of 'add': the study has no variant 'one' at 7.",
        ),
    ],
)
def test_a_record_refuses_what_no_run_can_produce(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        build()
    assert str(error.value) == message


def test_a_measurement_is_of_one_call() -> None:
    measured = cell("one", 1000, 20_000, n_calls=10)
    assert measured.median_s == 2e-6
    assert measured.samples_s.tolist()[:2] == [2e-6, 2.02e-6]
    assert measured.quartiles_s == pytest.approx((1.985e-6, 2e-6, 2.015e-6))
    assert measured.iqr_s == pytest.approx(3e-8)
    assert measured.bandwidth == pytest.approx(4e9)
    assert measured.flop_rate == pytest.approx(5e8)


def test_nothing_measured_has_no_time() -> None:
    measured = missing("one", 8, "no GPU")
    assert (measured.n, measured.bandwidth, measured.flop_rate) == (0, None, None)
    for name in ("median_s", "quartiles_s", "iqr_s"):
        with pytest.raises(ArgumentError, match=r"'one' at 8 has no samples: no GPU\."):
            getattr(measured, name)


@pytest.mark.parametrize("traffic", [None, Traffic()])
def test_no_rate_without_traffic(traffic: Traffic | None) -> None:
    measured = cell("one", 8, 5, traffic=traffic)
    assert (measured.bandwidth, measured.flop_rate) == (None, None)
