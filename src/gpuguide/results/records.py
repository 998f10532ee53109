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
    "Summary",
    "Traffic",
    "VariantInfo",
    "Work",
    "at_least",
    "check_fields",
    "one_of",
    "refuse_twice",
]


def one_of(*choices: str) -> dict[str, Any]:
    """Return the metadata of a text field that takes only these words.

    Parameters
    ----------
    *choices : str
        The words.

    Returns
    -------
    dict
        For ``dataclasses.field(metadata=...)``; reading a recording refuses other words too.

    Examples
    --------
    >>> one_of("warm", "cold")
    {'choices': ('warm', 'cold')}
    """
    return {"choices": choices}


def at_least(minimum: float) -> dict[str, Any]:
    """Return the metadata of a number field whose least value is not 0.

    Parameters
    ----------
    minimum : float
        The least value.

    Returns
    -------
    dict
        For ``dataclasses.field(metadata=...)``; reading a recording refuses less too.

    Examples
    --------
    >>> at_least(1)
    {'minimum': 1}
    """
    return {"minimum": minimum}


SIGNED = at_least(-(2.0**63))
"""Metadata of a number field that may be negative."""


def check_fields(record: Any) -> None:
    """Check the fields of a record against their metadata, when it is built.

    Parameters
    ----------
    record : dataclass
        Numbers, alone or in a tuple, must be finite and at least 0, or what `at_least` says.

    Raises
    ------
    ArgumentError
        If a field holds a word or a number that it does not take.

    Examples
    --------
    >>> from gpuguide.results.records import Traffic
    >>> Traffic(bytes_read=-8)
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Traffic.bytes_read: expected at least 0; got -8.
    """
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
    """Check that nothing is named twice.

    Parameters
    ----------
    owner, kind : str
        Whose names they are and what they name, for the message.
    names : iterable
        The names.

    Raises
    ------
    ArgumentError
        If one stands twice.

    Examples
    --------
    >>> refuse_twice("Ceilings", "mix", ["read", "copy", "read"])
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Ceilings: expected each mix once; got 'read' again.
    """
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(f"{owner}: expected each {kind} once; got {name!r} again.")
        seen.add(name)


CLOCKS = ("device", "launch", "end_to_end", "host", "first_call")
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
    """How much of one kind of work a call does, counted exactly on the host.

    Parameters
    ----------
    name : str
        What is counted, as a word: ``"warp_steps"``.
    count : int
        How many there are in one call.
    ceiling : float or None
        The most that the GPU can do per second, if the variant declares it.

    Examples
    --------
    >>> Work("warp_steps", 27_000_000).noun
    'warp steps'
    """

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
    """The description of a variant: everything about it but its code.

    Parameters
    ----------
    name : str
        Short and unique in its study: ``"four"``.
    label, note : str
        For charts and tables: a few words; one sentence.
    device : str
        ``"gpu"`` or ``"cpu"``.
    clock : str
        The region that its time covers: ``"device"``, ``"end_to_end"``, ``"host"`` or ``"first_call"``.
    threads : int or None
        CPU threads used, where that is known.
    source : str
        Qualified name of the function: ``"gpuguide.topics.launch_sizes.maximum.four"``.
    allocates, mutates : bool
        Whether a call allocates its result; whether it changes its first input.

    Examples
    --------
    >>> VariantInfo("cupy", "CuPy", clock="kernel")
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: VariantInfo.clock: expected one of device, launch, end_to_end, host, \
first_call; got 'kernel'.
    """

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
class Summary:
    """A summary of the samples of a former run: their number, quartiles, and the median of each round.

    Parameters
    ----------
    n : int
        Number of samples.
    quartiles_ns : tuple of float
        Lower quartile, median and upper quartile of the samples, in nanoseconds, shape (3,).
    rounds : tuple of int
        The rounds that had samples, in order.
    round_medians_ns : tuple of float
        The median of each of these rounds, in nanoseconds.

    Raises
    ------
    ArgumentError
        If the quartiles are not three in order, or rounds and their medians differ in number.

    Examples
    --------
    >>> Summary(3, (499.5, 500.0, 500.5), (0, 1), (500.0, 499.0)).n
    3
    """

    n: int = field(metadata=at_least(1))
    quartiles_ns: tuple[float, ...]
    rounds: tuple[int, ...]
    round_medians_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if len(self.quartiles_ns) != 3 or list(self.quartiles_ns) != sorted(self.quartiles_ns):
            raise ArgumentError(f"Summary: expected three quartiles in order; got {self.quartiles_ns}.")
        rounds = list(self.rounds)
        if not rounds or rounds != sorted(set(rounds)) or len(rounds) != len(self.round_medians_ns):
            raise ArgumentError(
                f"Summary: expected rounds in order, each with its median; got {len(rounds)} rounds and "
                f"{len(self.round_medians_ns)} medians."
            )


@dataclass(frozen=True)
class Measurement:
    """All samples of one variant at one size on one clock, or the reason why there are none.

    A former run keeps a summary in place of its samples.

    Parameters
    ----------
    variant : str
        Name of the variant.
    size : int
        Size of the input, in the study's own unit.
    clock : str
        The region timed: ``"device"``, ``"launch"``, ``"end_to_end"``, ``"host"`` or ``"first_call"``.
    samples_ns : tuple of int
        Each sample is the total of ``n_calls`` calls, in nanoseconds; empty if nothing was measured.
    rounds : tuple of int
        The round in which each sample was taken; ratios are taken within a round.
    n_calls : int
        Calls in one sample.
    method : str
        ``"events"``, ``"graph"``, ``"batch"``, ``"host"`` or ``"process"``.
    cache : str
        ``"warm"`` or ``"cold"``.
    host_bound : bool
        Whether the host could not keep the queue filled, so that the samples include its time.
    floor_ns : int or None
        Time of an empty kernel, measured the same way.
    traffic : Traffic or None
        What one call moves and computes.
    reason : str
        Why there are no samples; empty where there are.
    notes : tuple of str
        Warnings: a power cap, two modes.
    summary : Summary or None
        For a former run, in place of its samples.
    work : tuple of Work
        The work that the variant declares for one call, beside its traffic.

    Raises
    ------
    ArgumentError
        If samples and rounds differ in number, or there is not exactly one of samples, summary and reason.

    Examples
    --------
    >>> traffic = Traffic(bytes_read=8000, bytes_written=4000)
    >>> cell = Measurement("four", 1000, "device", (500, 501, 499), (0, 1, 2), n_calls=10, traffic=traffic)
    >>> cell.n, cell.median_s, cell.bandwidth
    (3, 5e-08, 240000000000.0)
    """

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
    summary: Summary | None = None
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
        there = [
            what
            for what, value in (
                ("samples", self.samples_ns),
                ("a summary", self.summary),
                (f"the reason {self.reason!r}", self.reason),
            )
            if value
        ]
        if len(there) != 1:
            what = " and ".join(there) or "neither"
            raise ArgumentError(f"{cell}: expected samples, or the reason why there are none; got {what}.")

    @property
    def n(self) -> int:
        """Number of samples; 0 where nothing was measured."""
        return self.summary.n if self.summary else len(self.samples_ns)

    @property
    def samples_s(self) -> NDArray[np.float64]:
        """Seconds per call of each sample, shape (n,); empty for a former run."""
        return statistics.seconds(self.samples_ns, self.n_calls)

    @cached_property
    def median_s(self) -> float:
        """Median time of a call in seconds; raises ArgumentError, with the reason, where there is none."""
        return self.quartiles_s[1]

    @cached_property
    def quartiles_s(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile, in seconds per call."""
        self._refuse_empty()
        found = self.summary.quartiles_ns if self.summary else statistics.quartiles(self.samples_ns)
        scale = 1e9 * self.n_calls
        return found[0] / scale, found[1] / scale, found[2] / scale

    @property
    def iqr_s(self) -> float:
        """Distance between the quartiles, in seconds per call."""
        return self.quartiles_s[2] - self.quartiles_s[0]

    @cached_property
    def _summary(self) -> Summary:
        """The summary of the samples, or the stored one."""
        self._refuse_empty()
        if self.summary:
            return self.summary
        rounds: dict[int, list[int]] = {}
        for number, sample in zip(self.rounds, self.samples_ns, strict=True):
            rounds.setdefault(number, []).append(sample)
        numbers = tuple(sorted(rounds))
        medians = tuple(statistics.quartiles(rounds[number])[1] for number in numbers)
        return Summary(self.n, statistics.quartiles(self.samples_ns), numbers, medians)

    def _refuse_empty(self) -> None:
        if not self.n:
            raise ArgumentError(f"{self.variant!r} at {self.size} has no samples: {self.reason}.")

    def summarised(self) -> Measurement:
        """Return this cell with a summary in place of its samples, the form kept for former runs.

        Examples
        --------
        >>> cell = Measurement("four", 8, "device", (4, 6, 8), (0, 0, 1)).summarised()
        >>> cell.summary
        Summary(n=3, quartiles_ns=(5.0, 6.0, 7.0), rounds=(0, 1), round_medians_ns=(5.0, 8.0))
        >>> cell.n, cell.median_s
        (3, 6e-09)
        """
        if not self.n:
            return self
        return dataclasses.replace(self, samples_ns=(), rounds=(), summary=self._summary)

    def round_medians_s(self) -> dict[int, float]:
        """Return the median seconds per call of each round; for a former run too.

        Examples
        --------
        >>> Measurement("four", 8, samples_ns=(4, 6, 8), rounds=(0, 0, 1)).round_medians_s()
        {0: 5e-09, 1: 8e-09}
        """
        found, scale = self._summary, 1e9 * self.n_calls
        return {
            number: value / scale for number, value in zip(found.rounds, found.round_medians_ns, strict=True)
        }

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
        """Return this cell with another one's samples and the way they were taken.

        Examples
        --------
        >>> slow = Measurement("slow", 8, "device", (9,), (0,))
        >>> fast = Measurement("fast", 8, "device", (4,), (0,))
        >>> slow.with_samples_of(fast).samples_ns
        (4,)
        """
        taken = ("samples_ns", "rounds", "summary", "n_calls", "method", "host_bound", "floor_ns")
        return dataclasses.replace(self, **{name: getattr(other, name) for name in taken})


@dataclass(frozen=True)
class CheckResult:
    """How far one variant's result lay from the reference at one size.

    Parameters
    ----------
    variant : str
        Name of the variant.
    size : int
        Size of the input.
    kind : str
        ``"exact"`` (integer-valued inputs, compared bit for bit), ``"random"``, or ``"after"`` timing.
    largest_difference, tolerance : float
        Largest absolute difference found, and the tolerance at that place.

    Examples
    --------
    >>> CheckResult("four", 1000, "random", largest_difference=2e-7, tolerance=1e-6).passed
    True
    """

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
    """One named value that is not part of a sweep.

    Parameters
    ----------
    name : str
        Unique on its page.
    value : float, int or str
        The value in ``unit``.
    unit : str
        ``"s"``, ``"B/s"``, ``"FLOP/s"``, ``"ratio"``, ``"share"``, ``"B"``, ``"1"``, ``"W"``, ``"J"``,
        ``"Hz"``, or ``"text"`` for a str.
    samples : tuple of float
        The samples behind the value, in the same unit.
    note : str
        One sentence, if the name does not say enough.

    Raises
    ------
    ArgumentError
        If the unit is unknown, or the value does not fit it.

    Examples
    --------
    >>> Fact("first_call", 0.41, "s").value
    0.41
    >>> Fact("first_call", "0.41", "s")
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Fact 'first_call': expected a number for unit 's'; got '0.41'.
    """

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
        """Combine a fact over several runs.

        Parameters
        ----------
        runs : sequence of (str, Fact)
            For each run, oldest first: the machine start, and the fact of this name.

        Returns
        -------
        Fact
            For one run, its fact. For several, numbers of one unit become their median over the starts, with
            the range in which another start's is expected; for a text, or if the unit has changed, the newest
            fact.

        Raises
        ------
        ArgumentError
            If there is no run.

        Examples
        --------
        >>> made = Fact.over_starts([(start, Fact("copy", value, "s")) for start, value in
        ...                          [("a", 0.40), ("b", 0.42), ("c", 0.41)]])
        >>> made.value, made.shown, made.basis
        (0.41, '410 ms', '3 machine starts; another is expected between 378 ms and 445 ms')
        """
        if not runs:
            raise ArgumentError("Fact.over_starts: expected at least one run; got none.")
        newest = runs[-1][1]
        same_unit = [(start, fact) for start, fact in runs if fact.unit == newest.unit]
        if len(same_unit) < 2 or newest.unit == "text":
            return newest
        values = [(start, float(fact.value)) for start, fact in same_unit]
        low, high = _spread(newest)
        inside = [(value * low, value * high) for _, value in values]
        # The samples of a former run are not kept, so their number is unknown and not counted.
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

    Parameters
    ----------
    over : Quantity or None
        The value with its range; low and high are the value where all runs agree exactly.
    newest : Fact or None
        The fact of the newest run; the samples belong to its value.
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
    """Whether a sentence held in the runs that were measured.

    Parameters
    ----------
    text : str
        The sentence.
    holds : bool or None
        None where it could not be decided.
    low, high : float or None
        The smallest and largest value that decided it, over all runs, in ``unit``, if there was one.
    unit : str
        The unit of these.
    swapped : bool or None
        Whether it still holds if the two variants that it compares swap their samples; None if it does not
        compare two.

    Examples
    --------
    >>> ClaimResult("Four per thread beat one", True, 1.6, 1.7, "ratio").holds
    True
    """

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

    Parameters
    ----------
    machine : str
        The machine's short name, ``"nvidia-h200"``.
    gpu : str
        The GPU's full name.
    compute_capability : tuple of int or None
        Major and minor version.
    sm_count, l2_bytes, memory_bytes : int or None
        Streaming multiprocessors; bytes of the L2 cache and of the device memory.
    sm_clock_hz, memory_clock_hz, power_limit_w : float or None
        Highest clocks, power limit.
    ecc : bool or None
        Whether error correction is on.
    driver, cuda, compiler : str
        Versions of the driver and of CUDA; the name and version of what compiled the kernels.
    versions : tuple of (str, str)
        Name and version of each package.
    cpu : str
        Model of the CPU.
    n_cpus, threads : int or None
        Logical (often virtual) CPUs of the host; threads that libraries were allowed.
    blas : str
        The BLAS that NumPy calls.
    steal_s : float or None
        CPU seconds that the hypervisor gave to others during the run.
    utc_date, commit : str
        ISO 8601 date; the commit that was measured.
    run_time_s : float or None
        Duration of the whole run.
    peak_memory_bytes : int or None
        Most device memory in use at once.
    python, platform : str
        Version of Python; operating system.
    start : str
        The start of the machine, hashed: runs with the same hash were made without a restart between them.
    virtualisation, clock_source : str
        The hypervisor (``"kvm"``), if known; the clock that the machine's kernel reads the time from.
    cpu_signature : str
        Vendor, family, model and stepping, because virtual machines hide the name: ``"GenuineIntel
        6/207/2"``.
    cpu_caches : tuple of (str, int)
        Name and bytes of each cache that a CPU sees, the smallest first: ``("L2", 2097152)``.
    cpu_clock_hz : float or None
        As the CPU reports it.
    sm_clock_seen_hz, power_seen_w : tuple of float or None
        Lowest and highest value read in the rounds of this run.
    pace_s : float or None
        Best time of the loop that shows whether the host's processor was shared.
    shared_host : float or None
        Share of the host's samples that were taken while it was shared.

    Examples
    --------
    >>> import dataclasses
    >>> names = [field.name for field in dataclasses.fields(Provenance)]
    >>> len(names), names[:3]
    (35, ['machine', 'gpu', 'compute_capability'])
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
