"""Rates, quartiles, intervals and how quantities are written."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.results import statistics
from gpuguide.results.statistics import median_interval, quartiles
from gpuguide.results.units import format_ends, format_quantity, format_size


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (statistics.bandwidth, (12e9, 3e-3), 4e12),
        (statistics.bandwidth, (0, 1.0), 0.0),
        (statistics.flop_rate, (3e9, 2.0), 1.5e9),
        (statistics.speedup, (80e-3, 0.5e-3), 160.0),
        (statistics.median, ([4.0, 1.0, 2.0, 3.0],), 2.5),
    ],
)
def test_arithmetic(function: Callable[..., float], arguments: tuple[Any, ...], expected: float) -> None:
    assert function(*arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (statistics.bandwidth, (1, 0.0), "time_s must be positive and finite; got 0.0."),
        (statistics.bandwidth, (-1, 1.0), "n_bytes must be finite and at least 0; got -1."),
        (statistics.flop_rate, (1, math.nan), "time_s must be positive and finite; got nan."),
        (statistics.flop_rate, (math.inf, 1), "flops must be finite and at least 0; got inf."),
        (statistics.speedup, (0, 1), "baseline_s must be positive and finite; got 0."),
        (statistics.speedup, (1, 0), "candidate_s must be positive and finite; got 0."),
        (statistics.seconds, ([1], 0), "n_calls must be positive and finite; got 0."),
        (statistics.median, ([],), "Expected a sequence of at least one sample; got shape (0,)."),
        (statistics.median, ([[1.0]],), "Expected a sequence of at least one sample; got shape (1, 1)."),
        (statistics.median, ([1.0, math.nan],), "Expected finite samples; got NaN or infinity among them."),
        (median_interval, ([1.0], 0.0), "level must be between 0 and 1; got 0.0."),
        (median_interval, ([1.0], 1.0), "level must be between 0 and 1; got 1.0."),
    ],
)
def test_senseless_arguments_are_refused(function: Callable[..., Any], arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        function(*arguments)
    assert str(error.value) == message


def test_seconds_are_those_of_one_call() -> None:
    assert statistics.seconds((3000, 2**63), n_calls=3).tolist() == [1e-6, 2**63 / 3e9]


@pytest.mark.parametrize(
    ("n", "rank"),
    [(1, 1), (2, 1), (5, 1), (6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (50, 18), (100, 40)],
)
def test_median_interval_takes_the_tabled_ranks(n: int, rank: int) -> None:
    """Ranks for 95 % from tables of the sign test; below 6 samples there are none and the range is given."""
    shuffled = np.random.default_rng(1).permutation(np.arange(1.0, n + 1))
    assert median_interval(shuffled) == (rank, n + 1 - rank)


def test_median_interval_follows_the_level() -> None:
    samples = [float(i) for i in range(1, 21)]
    assert median_interval(samples, level=0.99) == (4, 17)
    assert median_interval(samples, level=0.5) == (8, 13)


def test_median_interval_covers_the_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(2000):
        low, high = median_interval(rng.exponential(size=20))
        hits += low <= math.log(2) <= high
    assert 0.95 <= hits / 2000 <= 0.97


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((3.5e-6, "s"), "3.5 µs"),
        ((0.0, "s"), "0 s"),
        ((4.2e-10, "s"), "0.42 ns"),
        ((9.994e-7, "s"), "1.0 µs"),
        ((9.94e-7, "s"), "990 ns"),
        ((0.41, "s"), "410 ms"),
        ((61.2, "s"), "61 s"),
        ((-2.5e-3, "s"), "-2.5 ms"),
        ((61.73e-6, "s", 61.70e-6, 61.76e-6), "61.7 µs"),
        ((61.73e-6, "s", 61.72e-6, 61.74e-6), "61.73 µs"),
        ((61.7349e-6, "s", 61.7348e-6, 61.7350e-6), "61.73 µs"),
        ((61.73e-6, "s", 20e-6, 99e-6), "60 µs"),
        ((61.73e-6, "s", 61.73e-6, 61.73e-6), "61.7 µs"),
        ((61.53e-6, "s", 61.33e-6, 61.73e-6), "61.5 µs"),
        ((61.53e-6, "s", 61.53e-6, 99e-6), "62 µs"),
        ((4.26e12, "B/s"), "4.3 TB/s"),
        ((4.26e12, "B/s", 4.25e12, 4.27e12), "4.26 TB/s"),
        ((5.5e10, "B/s"), "55 GB/s"),
        ((38, "B/s"), "38 B/s"),
        ((2.99e13, "FLOP/s"), "30 TFLOP/s"),
        ((152.1, "ratio"), "150×"),
        ((152.1, "ratio", 151.4, 152.9), "152×"),
        ((0.38, "ratio"), "0.38×"),
        ((1234567.0, "ratio"), "1 200 000×"),
        ((0.978, "share"), "98 %"),
        ((1.0, "share"), "100 %"),
        ((0.9961, "share"), "100 %"),
        ((1.0194, "share"), "102 %"),
        ((1.0474, "share", 0.9, 1.2), "105 %"),
        ((2.3205, "share"), "232 %"),
        ((12.3456, "share"), "1235 %"),
        ((0.0341, "share"), "3.4 %"),
        ((256, "1"), "256"),
        ((65536, "1"), "65 536"),
        ((10_000, "1"), "10 000"),
        ((9_999, "1"), "9999"),
        ((2.55, "1"), "2.5"),
        ((1073741824, "B"), "1.1 GB"),
        ((1.98e9, "Hz"), "2.0 GHz"),
        ((700.0, "W"), "700 W"),
        ((2.1, "J"), "2.1 J"),
        (("Intel Xeon", "text"), "Intel Xeon"),
    ],
)
def test_quantities_are_written_for_readers(arguments: tuple[Any, ...], expected: str) -> None:
    assert format_quantity(*arguments) == expected


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown", "expected"),
    [
        (213.552e-6, 213.312e-6, 213.632e-6, "s", "214 µs", "213 µs to 214 µs"),
        (61.7e-6, 46e-6, 82e-6, "s", "60 µs", "46 µs to 82 µs"),
        (1.42e-3, 1.06e-3, 1.91e-3, "s", "1.4 ms", "1.1 ms to 1.9 ms"),  # 1 ms is not within
        (61.72e-6, 61.6e-6, 61.8e-6, "s", "61.7 µs", "61.6 µs to 61.8 µs"),
        (213.9e-6, 213.8e-6, 214.1e-6, "s", "214 µs", "213.8 µs to 214.1 µs"),
        (0.5035, 0.4968, 0.5249, "s", "500 ms", "497 ms to 525 ms"),
        (0.99867, 0.99813, 0.99978, "share", "99.9 %", "99.81 % to 99.98 %"),
        (1.0474, 1.04, 1.0551, "share", "105 %", "104.0 % to 105.5 %"),
        (9.97e-7, 9.8e-7, 1.021e-6, "s", "1.0 µs", "980 ns to 1.02 µs"),
        (31.12e-3, 31.12e-3, 49.5e-3, "s", "31 ms", "31 ms to 50 ms"),
        (61.7349e-6, 61.7348e-6, 61.7350e-6, "s", "61.73 µs", "61.73 µs to 61.74 µs"),
        (61.73e-6, 61.73e-6, 61.73e-6, "s", "61.7 µs", "61.7 µs to 61.7 µs"),
        (-2.5e-3, -2.6e-3, -2.4e-3, "s", "-2.5 ms", "-2.60 ms to -2.40 ms"),
        (0.0, 0.0, 1e-6, "s", "0 s", "0 s to 1.0 µs"),
        (427e-6, 34.2e-6, 14.36e-3, "s", "400 µs", "34 µs to 14 ms"),  # the lower end is not 0
        (42.7e-6, 0.187e-6, 89.6e-3, "s", "40 µs", "190 ns to 90 ms"),
    ],
)
def test_the_ends_of_an_interval_differ_around_the_shown_value(
    value: float, low: float, high: float, unit: str, shown: str, expected: str
) -> None:
    assert format_quantity(value, unit, low, high) == shown
    assert " to ".join(format_ends(value, unit, low, high)) == expected


def test_every_interval_holds_its_value_as_shown() -> None:
    """For widths from a millionth to thirty times the value, and values that lie on an end."""
    rng = np.random.default_rng(4)
    for _ in range(5000):
        value, width = 10 ** rng.uniform(-9, 3), 10 ** rng.uniform(-6, 1.5)
        low, high = (value * (1 + sign * width * rng.integers(2) * rng.random()) for sign in (-1, 1))
        shown = format_quantity(value, "1", low, high)
        ends = format_ends(value, "1", low, high)
        first, number, last = (float(text.replace(" ", "")) for text in (ends[0], shown, ends[1]))
        assert first <= number <= last
        assert first < last or high == low


@pytest.mark.parametrize("value", [math.nan, math.inf, "3"])
def test_no_interval_without_numbers(value: Any) -> None:
    with pytest.raises(ArgumentError, match="Expected a finite number for unit 's'; got"):
        format_ends(1.0, "s", 0.5, value)


@pytest.mark.parametrize("value", [math.nan, math.inf, "3"])
def test_no_quantity_without_a_number(value: Any) -> None:
    with pytest.raises(ArgumentError, match="Expected a finite number for unit 's'; got"):
        format_quantity(value, "s")


def test_an_unknown_unit_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown unit 'FLOPS/s'\. Did you mean 'FLOP/s'"):
        format_quantity(1.0, "FLOPS/s")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0"),
        (1, "1"),
        (100, "100"),
        (512, "512"),
        (1000, "10^3"),
        (1024, "2^10"),
        (2**24, "2^24"),
        (10**9, "10^9"),
        (2**24 + 1, "16 777 217"),
        (1823, "1823"),
        (65_535, "65 535"),
        (20_000, "20 000"),
    ],
)
def test_sizes_are_written_as_powers_where_they_are(size: int, expected: str) -> None:
    assert format_size(size) == expected


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("s", "2.0 ns, 2.0 µs, 2.0 ms, 2.0 s, 2000 s, 2 000 000 s"),
        (
            "B/s",
            "0.0000000020 B/s, 0.0000020 B/s, 0.0020 B/s, 2.0 B/s, 2.0 kB/s, 2.0 MB/s, 2.0 GB/s, 2.0 TB/s",
        ),
        ("FLOP/s", "2.0 kFLOP/s, 2.0 MFLOP/s, 2.0 GFLOP/s, 2.0 TFLOP/s, 2.0 PFLOP/s"),
        ("B", "2.0 B, 2.0 kB, 2.0 MB, 2.0 GB, 2.0 TB"),
        ("Hz", "2.0 Hz, 2.0 kHz, 2.0 MHz, 2.0 GHz"),
        ("W", "2.0 mW, 2.0 W, 2000 W"),
        ("J", "2.0 mJ, 2.0 J, 2.0 kJ"),
    ],
)
def test_every_prefix_is_a_thousand_of_the_one_before(unit: str, expected: str) -> None:
    start = {"s": -9, "B/s": -9, "FLOP/s": 3, "W": -3, "J": -3}.get(unit, 0)
    powers = range(start, start + 3 * len(expected.split(", ")), 3)
    assert ", ".join(format_quantity(2.0 * 10.0**power, unit) for power in powers) == expected


def test_median_interval_takes_many_samples() -> None:
    """2^2000 is no float; the ranks are still those of the normal approximation."""
    low, high = median_interval([float(i) for i in range(1, 2001)])
    assert (low, high) == (956, 1045)


@pytest.mark.parametrize("n", range(6, 101))
def test_median_interval_is_the_narrowest_that_covers_enough(n: int) -> None:
    """One rank further in and the binomial coverage, counted in whole numbers, is below 95 %."""

    def outside(rank: int) -> int:
        return 2 * sum(math.comb(n, i) for i in range(rank))

    low, high = median_interval([float(i) for i in range(1, n + 1)])
    assert high == n + 1 - low
    assert 20 * outside(int(low)) <= 2**n < 20 * outside(int(low) + 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 20, 99])
def test_quartiles_are_those_of_numpy(n: int) -> None:
    samples = np.random.default_rng(n).integers(1, 10**9, n).tolist()
    assert quartiles(samples) == tuple(np.quantile(samples, (0.25, 0.5, 0.75)))


def test_no_samples_have_no_quartiles() -> None:
    with pytest.raises(ArgumentError, match="Expected at least one sample; got none"):
        quartiles([])


@pytest.mark.parametrize(
    ("half_width", "shown"),
    [
        (0.00008, "61.73 µs"),
        (0.0005, "61.7 µs"),
        (0.002, "61.7 µs"),
        (0.02, "62 µs"),
        (0.2, "62 µs"),
        (0.3, "60 µs"),
    ],
)
def test_digits_follow_from_the_range(half_width: float, shown: str) -> None:
    """A value that moves by half, 30 % to either side, has one."""
    value = 61.73e-6
    assert format_quantity(value, "s", value * (1 - half_width), value * (1 + half_width)) == shown
