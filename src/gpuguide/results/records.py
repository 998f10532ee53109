"""The records that make up a run: measurements, checks, facts, claims, and where they come from."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpuguide.errors import ArgumentError
from gpuguide.results import statistics
from gpuguide.results.starts import LEAST_STARTS, Quantity, expected, starts_words
from gpuguide.results.units import format_quantity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CLOCKS",
    "SIGNED",
    "CheckResult",
    "ClaimResult",
    "Fact",
    "FactOverStarts",
    "Measurement",
    "Provenance",
    "Traffic",
    "VariantInfo",
    "Work",
    "at_least",
    "check_fields",
    "one_of",
    "refuse_twice",
]


def one_of(*choices: str) -> dict[str, Any]:
    """Return the metadata of a text field that takes only these words."""
    return {"choices": choices}


def at_least(minimum: float) -> dict[str, Any]:
    """Return the metadata of a number field whose least value is not 0."""
    return {"minimum": minimum}


SIGNED = at_least(-(2.0**63))
"""Metadata of a number field that may be negative."""


def check_fields(record: Any) -> None:
    """Check the fields of a record against their metadata, when it is built."""
    for item in dataclasses.fields(record):
        value, name = getattr(record, item.name), f"{type(record).__name__}.{item.name}"
        choices = item.metadata.get("choices")
        if choices and value not in choices:
            raise ArgumentError(f"{name}: expected one of {', '.join(choices)}; got {value!r}.")
        minimum = item.metadata.get("minimum", 0)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not math.isfinite(number):
                raise ArgumentError(f"{name}: expected a finite number; got {number!r}.")
            if isinstance(number, int | float) and number < minimum:
                raise ArgumentError(f"{name}: expected at least {minimum:g}; got {number!r}.")


def refuse_twice(owner: str, kind: str, names: Iterable[Hashable]) -> None:
    """Check that nothing is named twice."""
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(f"{owner}: expected each {kind} once; got {name!r} again.")
        seen.add(name)


CLOCKS = ("device", "launch", "end_to_end", "host")
"""The regions of a program that are timed apart."""


# Of a longer tuple, only this many values are shown.
_MOST_WRITTEN, _WRITTEN = 6, 3


def brief(thing: Any) -> str:
    """Write a data class as Python does, but shorten long tuples to their first values and their length."""
    shown = (f"{each.name}={_cut(getattr(thing, each.name))}" for each in dataclasses.fields(thing))
    return f"{type(thing).__qualname__}({', '.join(shown)})"


def _cut(value: object) -> str:
    if not isinstance(value, tuple) or len(value) <= _MOST_WRITTEN:
        return repr(value)
    return f"({', '.join(map(repr, value[:_WRITTEN]))}, ... {len(value)} in all)"


@dataclass(frozen=True)
class Traffic:
    """What one call must move and compute, according to its traffic model.

    Parameters
    ----------
    bytes_read, bytes_written : int
        Unique bytes of device memory, each counted once however often it is touched.
    flops : int
        Floating-point operations executed.
    unit : str
        What executes them: ``"fp32"``, ``"fp64"``, ``"fp64_tensor"``, ``"tf32"`` ...

    Examples
    --------
    >>> traffic = Traffic(bytes_read=8, bytes_written=4)
    >>> traffic.bytes_total, round(traffic.read_fraction, 3)
    (12, 0.667)
    """

    bytes_read: int = 0
    bytes_written: int = 0
    flops: int = 0
    unit: str = "fp32"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def bytes_total(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def read_fraction(self) -> float:
        """Share of the bytes that are read, 0 where none are moved."""
        return self.bytes_read / self.bytes_total if self.bytes_total else 0.0


@dataclass(frozen=True)
class Work:
    """How much of one kind of work a call does, counted exactly on the host."""

    name: str
    count: int
    ceiling: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.name.isidentifier():
            raise ArgumentError(f"Work.name: expected a word such as 'warp_steps'; got {self.name!r}.")
        if self.ceiling is not None and not self.ceiling > 0:
            raise ArgumentError(f"Work.ceiling: expected a rate above 0; got {self.ceiling!r}.")

    @property
    def noun(self) -> str:
        """The name as it is written in a sentence."""
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class VariantInfo:
    """The description of a variant: everything about it but its code."""

    name: str
    label: str
    note: str = ""
    device: str = field(default="gpu", metadata=one_of("gpu", "cpu"))
    clock: str = field(default="device", metadata=one_of(*CLOCKS))
    threads: int | None = field(default=None, metadata=at_least(1))
    source: str = ""
    allocates: bool = False
    mutates: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Measurement:
    """All samples of one variant at one size on one clock, or the reason why there are none."""

    variant: str
    size: int
    clock: str = field(default="device", metadata=one_of(*CLOCKS))
    samples_ns: tuple[int, ...] = ()
    rounds: tuple[int, ...] = ()
    n_calls: int = field(default=1, metadata=at_least(1))
    method: str = field(default="events", metadata=one_of("events", "graph", "batch", "host", "process"))
    cache: str = field(default="warm", metadata=one_of("warm", "cold"))
    host_bound: bool = False
    floor_ns: int | None = None
    traffic: Traffic | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    work: tuple[Work, ...] = ()

    def __repr__(self) -> str:
        return brief(self)

    def __post_init__(self) -> None:
        check_fields(self)
        cell = f"Measurement of {self.variant!r} at {self.size}"
        refuse_twice(cell, "work", [work.name for work in self.work])
        if len(self.samples_ns) != len(self.rounds):
            raise ArgumentError(
                f"{cell}: expected a round for each of {self.n} samples; got {len(self.rounds)}."
            )
        if bool(self.samples_ns) == bool(self.reason):
            what = f"samples and the reason {self.reason!r}" if self.reason else "neither"
            raise ArgumentError(f"{cell}: expected samples, or the reason why there are none; got {what}.")

    @property
    def n(self) -> int:
        """Number of samples; 0 where nothing was measured."""
        return len(self.samples_ns)

    @property
    def samples_s(self) -> NDArray[np.float64]:
        """Seconds per call of each sample, shape (n,)."""
        return statistics.seconds(self.samples_ns, self.n_calls)

    @cached_property
    def median_s(self) -> float:
        """Median time of a call in seconds; raises ArgumentError, with the reason, where there is none."""
        return self.quartiles_s[1]

    @cached_property
    def quartiles_s(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile, in seconds per call."""
        self._refuse_empty()
        low, middle, high = statistics.quartiles(self.samples_ns)
        scale = 1e9 * self.n_calls
        return low / scale, middle / scale, high / scale

    @property
    def iqr_s(self) -> float:
        """Distance between the quartiles, in seconds per call."""
        return self.quartiles_s[2] - self.quartiles_s[0]

    def _refuse_empty(self) -> None:
        if not self.n:
            raise ArgumentError(f"{self.variant!r} at {self.size} has no samples: {self.reason}.")

    def round_medians_s(self) -> dict[int, float]:
        """Return the median seconds per call of each round."""
        self._refuse_empty()
        rounds: dict[int, list[int]] = {}
        for number, sample in zip(self.rounds, self.samples_ns, strict=True):
            rounds.setdefault(number, []).append(sample)
        scale = 1e9 * self.n_calls
        return {number: statistics.quartiles(rounds[number])[1] / scale for number in sorted(rounds)}

    @property
    def bandwidth(self) -> float | None:
        """Unique bytes read and written per second (B/s); None without samples or traffic."""
        if not (self.n and self.traffic and self.traffic.bytes_total):
            return None
        return statistics.bandwidth(self.traffic.bytes_total, self.median_s)

    @property
    def flop_rate(self) -> float | None:
        """Floating-point operations per second (FLOP/s); None without samples or operations."""
        if not (self.n and self.traffic and self.traffic.flops):
            return None
        return statistics.flop_rate(self.traffic.flops, self.median_s)

    def with_samples_of(self, other: Measurement) -> Measurement:
        """Return this cell with another one's samples and the way they were taken."""
        taken = ("samples_ns", "rounds", "n_calls", "method", "host_bound", "floor_ns")
        return dataclasses.replace(self, **{name: getattr(other, name) for name in taken})


@dataclass(frozen=True)
class CheckResult:
    """How far one variant's result lay from the reference at one size."""

    variant: str
    size: int
    kind: str = field(metadata=one_of("exact", "random", "after"))
    largest_difference: float
    tolerance: float

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def passed(self) -> bool:
        """Whether the difference is within the tolerance."""
        return self.largest_difference <= self.tolerance


@dataclass(frozen=True)
class Fact:
    """One named value that is not part of a sweep."""

    name: str
    value: float | int | str = field(metadata=SIGNED)
    unit: str = field(
        metadata=one_of("s", "B/s", "FLOP/s", "ratio", "share", "B", "1", "W", "J", "Hz", "text")
    )
    samples: tuple[float, ...] = field(default=(), metadata=SIGNED)
    note: str = ""

    def __repr__(self) -> str:
        return brief(self)

    def __post_init__(self) -> None:
        check_fields(self)
        kind = "a text" if self.unit == "text" else "a number"
        # To Python, True is a number.
        if isinstance(self.value, bool) or isinstance(self.value, str) != (self.unit == "text"):
            raise ArgumentError(
                f"Fact {self.name!r}: expected {kind} for unit {self.unit!r}; got {self.value!r}."
            )

    @property
    def shown(self) -> str:
        """The value as it is written for readers."""
        return format_quantity(self.value, self.unit)

    @property
    def basis(self) -> str:
        """What the value rests on, in words; empty if it was not measured in samples."""
        n = len(self.samples)
        return f"{starts_words(1)}, {n} sample{'' if n == 1 else 's'}" if n else ""

    @staticmethod
    def over_starts(runs: Sequence[tuple[str, Fact]]) -> Fact:
        """Combine a fact over several runs."""
        if not runs:
            raise ArgumentError("Fact.over_starts: expected at least one run; got none.")
        newest = runs[-1][1]
        same_unit = [(start, fact) for start, fact in runs if fact.unit == newest.unit]
        if len(same_unit) < 2 or newest.unit == "text":
            return newest
        values = [(start, float(fact.value)) for start, fact in same_unit]
        low, high = _spread(newest)
        inside = [(value * low, value * high) for _, value in values]
        # Where a run kept no samples, their number is unknown and not counted.
        sampled = [len(fact.samples) for _, fact in same_unit]
        over = Quantity.of(expected(values, inside), newest.unit, sum(sampled) if all(sampled) else 0)
        # A count stays one: three starts, two of which agree, have no half.
        is_count = all(isinstance(fact.value, int) for _, fact in same_unit)
        value: float | int | str = round(over.value) if is_count else over.value
        # A count is the same in every run, and needs no range of half a per cent.
        if len({fact.value for _, fact in same_unit}) == 1:
            value, exact = newest.value, float(newest.value)
            over = dataclasses.replace(over, value=exact, low=exact, high=exact)
        return FactOverStarts(newest.name, value, newest.unit, newest.samples, newest.note, over, newest)


@dataclass(frozen=True)
class FactOverStarts(Fact):
    """A fact from several runs: the median over the machine starts, and the newest run's samples.

    It is made when a recording is read and never stored.
    """

    over: Quantity | None = None
    newest: Fact | None = None

    def __repr__(self) -> str:
        return brief(self)

    @property
    def shown(self) -> str:
        """The value as it is written for readers."""
        over = self.over
        if over is None or not over.has_range:
            return format_quantity(self.value, self.unit)
        shown = format_quantity(self.value, self.unit, over.low, over.high)
        # 5.2 in every run is not 5.20: zeros at its end would be digits that nobody counted.
        is_short = over.low == over.high and float(f"{over.value:.2g}") == over.value
        return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), shown) if is_short else shown

    @property
    def basis(self) -> str:
        """What the value rests on, in words."""
        over = self.over
        if over is None:
            return super().basis
        if over.low == over.high and over.n_starts >= LEAST_STARTS:
            return f"the same in all of {over.n_runs} runs on {starts_words(over.n_starts)}"
        return over.basis


def _spread(fact: Fact) -> tuple[float, float]:
    """Return the quartiles of a fact's samples as parts of its value; 1 where there are too few."""
    value = float(fact.value)
    if len(fact.samples) < 2 or not value > 0:
        return 1.0, 1.0
    low, _, high = statistics.quartiles(fact.samples)
    return min(low / value, 1.0), max(high / value, 1.0)


@dataclass(frozen=True)
class ClaimResult:
    """Whether a sentence held in the runs that were measured."""

    text: str
    holds: bool | None
    low: float | None = field(default=None, metadata=SIGNED)
    high: float | None = field(default=None, metadata=SIGNED)
    unit: str = ""
    swapped: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where, when and with what a run was made: what one needs to reproduce the numbers.

    Numbers that a machine does not report are None, and texts are empty.
    """

    machine: str
    gpu: str
    compute_capability: tuple[int, int] | None
    sm_count: int | None
    l2_bytes: int | None
    memory_bytes: int | None
    sm_clock_hz: float | None
    memory_clock_hz: float | None
    power_limit_w: float | None
    ecc: bool | None
    driver: str
    cuda: str
    compiler: str
    versions: tuple[tuple[str, str], ...]
    cpu: str
    n_cpus: int | None
    threads: int | None
    blas: str
    steal_s: float | None
    utc_date: str
    commit: str
    run_time_s: float | None
    peak_memory_bytes: int | None
    python: str
    platform: str
    start: str
    virtualisation: str
    clock_source: str
    cpu_signature: str
    cpu_caches: tuple[tuple[str, int], ...]
    cpu_clock_hz: float | None
    sm_clock_seen_hz: tuple[float, float] | None
    power_seen_w: tuple[float, float] | None
    pace_s: float | None
    shared_host: float | None

    def __post_init__(self) -> None:
        check_fields(self)
