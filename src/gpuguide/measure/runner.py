"""Runs a study: at each size the gate for every variant, then the clocks, in shuffled rounds."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from gpuguide.machine.memory import free_pools, is_out_of_memory, pool_bytes
from gpuguide.measure.ceilings import check_plausible
from gpuguide.measure.clocks import GpuClock, HostClock
from gpuguide.measure.first_call import time_first_call
from gpuguide.measure.gate import Trial
from gpuguide.measure.plan import Plan, Variant, generator
from gpuguide.measure.session import Machine, Session
from gpuguide.measure.timing import (
    BUDGET_S,
    CPU_BUDGET_S,
    MAX_SAMPLES,
    SLOW_NS,
    DeviceTimer,
    HostTimer,
    Timer,
    device_timer,
    end_to_end_timer,
    enough,
    host_timer,
    keep_busy,
    launch_timer,
)
from gpuguide.results.records import CheckResult, Measurement
from gpuguide.results.results import Results
from gpuguide.results.statistics import is_bimodal
from gpuguide.results.units import format_quantity, format_size

__all__ = [
    "CPU_LIMIT_S",
    "MIN_ROUNDS",
    "Cell",
    "CpuForecast",
    "KeptCall",
    "Progress",
    "Rounds",
    "Runner",
    "make_cells",
]


class Progress:
    """A bar on stderr when that is a terminal; nothing otherwise, so that no log fills with it.

    Parameters
    ----------
    title : str
        What runs.
    total : int
        Steps.

    Examples
    --------
    >>> with Progress("Add one", 2) as progress:
    ...     progress.advance(2, "1,024 elements")
    """

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total = title, total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def advance(self, steps: int, done: str) -> None:
        """Move on.

        Parameters
        ----------
        steps : int
            How many steps were done.
        done : str
            What was done last.
        """
        if self._bar is not None:
            self._bar.update(self._task, advance=steps, description=f"{self._title}: {done}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


CPU_LIMIT_S = 1.0
"""Seconds that a call of a CPU variant may take."""


@dataclass
class CpuForecast:
    """What CPU variants took at smaller sizes.

    Times are taken to grow at least in proportion to the size.

    Examples
    --------
    >>> forecast = CpuForecast()
    >>> forecast.add("numpy", 2**26, 0.9)
    >>> forecast.reason("numpy", 2**28)
    'skipped: 2^26 took 0.90 s, so 2^28 would take about 3.6 s; the limit is 1 s'
    >>> forecast.reason("numpy", 2**26 + 1), forecast.reason("unknown", 2**28)
    ('', '')
    """

    took_s: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, variant: str, size: int, seconds: float) -> None:
        """Note how long a call took; a later note on the same variant replaces it.

        Parameters
        ----------
        variant : str
            Its name.
        size : int
            At which size.
        seconds : float
            Of one call.
        """
        self.took_s[variant] = size, seconds

    def reason(self, variant: str, size: int) -> str:
        """Return why a size should be skipped, or ``""``.

        Parameters
        ----------
        variant : str
            Its name.
        size : int
            The next size.

        Returns
        -------
        str
            With what the size before took and what this one would.
        """
        before, seconds = self.took_s.get(variant, (0, 0.0))
        expected = seconds * size / before if before else 0.0
        if expected <= CPU_LIMIT_S:
            return ""
        return (
            f"skipped: {format_size(before)} took {seconds:.2f} s, so {format_size(size)} would take about "
            f"{format_quantity(expected, 's')}; the limit is {CPU_LIMIT_S:g} s"
        )


MIN_ROUNDS = 5
"""Rounds that every cell is sampled in, unless its budget is spent before."""

_MIN_SLOW_ROUNDS = 3
_LONG_NS = 10_000_000
_HOST_WARM_NS = 100_000_000


@dataclass
class KeptCall:
    """A call that allocates its result, with the last result kept for the check after timing.

    The old result is dropped before the new one is made, so that the memory pool hands out the same block.

    Attributes
    ----------
    call : callable
        Without arguments.
    result : object
        What it returned last.
    """

    call: Callable[[], Any]
    result: Any = None

    def __call__(self) -> Any:
        """Make the call and keep what it returns."""
        self.result = None
        self.result = self.call()
        return self.result


@dataclass
class Cell:
    """One variant at one size on one clock, while it is measured.

    Attributes
    ----------
    variant : Variant
        What is measured.
    clock : str
        ``"device"``, ``"launch"``, ``"end_to_end"`` or ``"host"``.
    timer : Timer
        Takes the samples.
    budget_s : float
        Seconds that all samples together may take.
    warm : bool
        Whether the first sample of each turn is dropped when it is short: others used the cache before.
    """

    variant: Variant
    clock: str
    timer: Timer
    budget_s: float
    warm: bool = True
    ns: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spent_s: float = 0.0

    def take(self, number: int, n: int, host: HostClock) -> None:
        """Take up to `n` samples in one round, within a share of the budget.

        Parameters
        ----------
        number : int
            The round.
        n : int
            Most samples; 100 in all.
        host : HostClock
            Tells what it costs.
        """
        begin = before = host.now_ns()
        turn_ns = self.budget_s / MIN_ROUNDS * 1e9
        pending = self._sample() if self.warm and n > 1 else None
        if pending is not None and pending < _LONG_NS:
            pending = None
        for _ in range(min(n, MAX_SAMPLES - len(self.ns))):
            sample = pending or self._sample()
            pending = None
            self.ns.append(sample)
            self.rounds.append(number)
            started, before = before, host.now_ns()
            if before - begin + (before - started) > turn_ns:  # another one would not fit
                break
        self.spent_s += (host.now_ns() - begin) / 1e9

    def _sample(self) -> int:
        was_host_bound = self.timer.host_bound
        sample = max(1, self.timer.sample())
        if self.timer.host_bound and not was_host_bound:
            self.ns.clear()  # device times and spans do not mix
            self.rounds.clear()
        return sample

    def discard(self, number: int) -> None:
        """Forget the samples of one round."""
        kept = [(ns, at) for ns, at in zip(self.ns, self.rounds, strict=True) if at != number]
        self.ns, self.rounds = [ns for ns, _ in kept], [at for _, at in kept]

    def note(self, text: str) -> None:
        """Add a warning once."""
        if text not in self.notes:
            self.notes.append(text)

    def finished(self, n_rounds: int) -> bool:
        """Say whether enough samples were taken.

        Parameters
        ----------
        n_rounds : int
            Rounds that are over.

        Returns
        -------
        bool
            True when the budget is spent and there were five rounds (three, when a sample takes over 0.2 s);
            from the fifth round on also by the stopping rule of `timing.enough`.
        """
        if not self.ns:
            return False
        if self.spent_s >= self.budget_s:
            return n_rounds >= (_MIN_SLOW_ROUNDS if max(self.ns) > SLOW_NS else MIN_ROUNDS)
        return n_rounds >= MIN_ROUNDS and enough(self.ns)

    def measurement(self, size: int, dtype: np.dtype[Any], cache: str) -> Measurement:
        """Return what was measured as a record.

        Parameters
        ----------
        size : int
            The size.
        dtype : numpy dtype
            Of the study, for the traffic.
        cache : str
            ``"warm"`` or ``"cold"``.

        Returns
        -------
        Measurement
            With the variant's traffic, unless the clock is the launch's.
        """
        samples = self.timer.samples(self.ns)
        traffic = self.variant.traffic if self.clock != "launch" else None
        if len(self.ns) >= 20 and is_bimodal(self.ns):
            self.note("two modes: the median stands for neither")
        return Measurement(
            self.variant.name,
            size,
            self.clock,
            tuple(self.ns),
            tuple(self.rounds),
            n_calls=samples.n_calls,
            method=samples.method,
            cache=cache if self.clock == "device" else "warm",
            host_bound=samples.host_bound,
            floor_ns=samples.floor_ns,
            traffic=None if traffic is None else traffic(size, dtype),
            notes=(*samples.notes, *self.notes),
        )


def make_cells(
    trial: Trial, variant: Variant, gpu: GpuClock | None, host: HostClock, *, cache: str, budget_s: float
) -> tuple[list[Cell], KeptCall | None]:
    """Make the timers of one variant at one size: they warm up and choose how to time it.

    Parameters
    ----------
    trial : Trial
        The random inputs, which the variant has passed.
    variant : Variant
        Any but those of clock ``"first_call"``.
    gpu, host
        The clocks.
    cache : str
        ``"cold"`` flushes the L2 before each device sample.
    budget_s : float
        Seconds for the samples of each cell.

    Returns
    -------
    list of Cell
        For the device clock the launch first, so that the last output is that of a device sample.
    KeptCall or None
        Holds the last result of a variant that allocates it.
    """
    with trial.on_stream(variant):
        trial.buffers(variant).restore()  # how long a call takes may depend on what it finds
    kept = KeptCall(trial.call(variant)) if variant.allocates else None
    call = kept or trial.call(variant)
    reset = trial.buffers(variant).reset if variant.mutates else None
    if gpu is None or not variant.needs_gpu:
        timer: HostTimer | DeviceTimer = _host_timer(call, host, reset, trial.call_ns.get(variant.name, 0))
        return [Cell(variant, "host", timer, budget_s)], kept
    if variant.clock == "end_to_end":
        timer = end_to_end_timer(call, gpu, host=host, reset=reset)
        return [Cell(variant, "end_to_end", timer, budget_s)], kept
    launch = launch_timer(call, gpu, host=host, budget_s=budget_s / 2)
    timer = device_timer(
        call,
        gpu,
        cold=cache == "cold",
        reset=reset,
        batchable=variant.batchable,
        capturable=not variant.allocates,
    )
    warm = cache == "warm"
    return [Cell(variant, "launch", launch, budget_s), Cell(variant, "device", timer, budget_s, warm)], kept


def _host_timer(call: Callable[[], Any], host: HostClock, reset: Any, checked_ns: int) -> HostTimer:
    # A slow call was warmed up by the gate: two more of it would be most of what the cell may take.
    if checked_ns > _HOST_WARM_NS:
        return HostTimer(host, call, before=reset)
    return host_timer(call, host=host, reset=reset)


_BUSY_S, _QUICK_BUSY_S, _LEAST_BUSY_S = 0.2, 0.02, 0.005
_SHORT_REST_S, _BUSY_SHARE = 0.001, 0.2
_SAMPLES, _MORE_SAMPLES = 4, 16
_MAX_ROUNDS = 12
_MAX_DISCARDED = 2

Guarded = Callable[[Variant, Callable[[], Any]], Any]


@dataclass
class _Group:
    """The cells of one variant, which take their turns together; the last one's output is checked."""

    variant: Variant
    cells: list[Cell]
    kept: KeptCall | None
    checked: CheckResult | None = None
    lost: bool = False

    def finished(self, n_rounds: int) -> bool:
        return self.lost or self.cells[-1].finished(n_rounds)


@dataclass
class Rounds:
    """Interleaves the variants of one size.

    In each round every variant has one turn, in an order shuffled anew; GPU variants come before CPU ones,
    so that the GPU rests once a round. After a rest it is kept busy, so that its clocks are up: a fifth of
    the rest, at least 5 and at most 200 ms. (On an H200 only the first two copies of half a millisecond are
    slower after a rest of up to a second.)

    Parameters
    ----------
    trial : Trial
        The random inputs.
    machine : Machine
        Clocks of the host and the GPU.
    quick : bool
        One sample a turn.
    seed : int
        Of the order.

    Attributes
    ----------
    checks : list of CheckResult
        Of the last output of each variant.
    warnings : list of str
        What a reader of the results must know.
    """

    trial: Trial
    machine: Machine
    quick: bool = False
    seed: int = 0
    checks: list[CheckResult] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    _groups: list[_Group] = field(default_factory=list, init=False)
    _worked_ns: int | None = field(default=None, init=False)  # when the GPU last had work
    _turns: int = field(default=0, init=False)

    def add(self, variant: Variant, cells: list[Cell], kept: KeptCall | None) -> None:
        """Add a variant.

        Parameters
        ----------
        variant : Variant
            What is timed.
        cells : list of Cell
            Its cells, sampled in this order in each turn.
        kept : KeptCall or None
            Holds its last result, if it allocates one.
        """
        self._groups.append(_Group(variant, cells, kept))

    @property
    def cells(self) -> list[Cell]:
        """The cells that have samples."""
        return [cell for group in self._groups if not group.lost for cell in group.cells if cell.ns]

    def run(self, guarded: Guarded) -> None:
        """Sample until every cell has enough.

        Parameters
        ----------
        guarded : callable
            Called with a variant and an action; returns None when memory did not allow it. That variant is
            then left out.
        """
        number, discarded, hot, most = 0, 0, 0, MIN_ROUNDS if self.quick else _MAX_ROUNDS
        while number < most and (active := [group for group in self._groups if not group.finished(number)]):
            for group in self._shuffled(active):
                turn = partial(self._turn, group, number, is_last=number + 1 == most)
                group.lost = guarded(group.variant, turn) is None
            too_hot = self._too_hot(active, number)
            if too_hot and discarded < _MAX_DISCARDED:
                discarded += 1
                self._discard(active, number)
            else:
                number, hot = number + 1, hot + too_hot
        if discarded:
            self.warnings.append(self._warning(discarded, hot))
        self.checks += [g.checked for g in self._groups if g.checked is not None and not g.lost]

    def _shuffled(self, groups: list[_Group]) -> list[_Group]:
        self._turns += 1
        words = (self.trial.plan.name, self.trial.size, "order", self.seed, self._turns)
        order = [groups[i] for i in generator(*words).permutation(len(groups))]
        return sorted(order, key=lambda group: not group.variant.needs_gpu)

    def _turn(self, group: _Group, number: int, *, is_last: bool) -> bool:
        """Sample one variant; when it has enough, check what the last sample left behind."""
        self._prepare(group.variant)
        n = 1 if self.quick else _SAMPLES if number < MIN_ROUNDS else _MORE_SAMPLES
        for cell in group.cells:
            if cell is group.cells[-1] or not cell.finished(number):
                cell.take(number, n, self.machine.host)
        if group.variant.needs_gpu:
            self._worked_ns = self.machine.host.now_ns()
        if is_last or group.finished(number + 1):
            returned = None if group.kept is None else group.kept.result
            group.checked = self.trial.verify(group.variant, returned, "after")
        return True

    def _prepare(self, variant: Variant) -> None:
        """Blank the output, so that the check after timing sees this variant's; wake the GPU."""
        machine = self.machine
        buffers = self.trial.buffers(variant)
        with self.trial.on_stream(variant):
            if any(group.variant.mutates for group in self._groups) and not variant.mutates:
                # The arrays are shared: another variant may have left its result in the input.
                buffers.restore()
            else:
                buffers.blank()
        if variant.needs_gpu and machine.gpu is not None:
            most = _QUICK_BUSY_S if self.quick else _BUSY_S
            rested = math.inf if self._worked_ns is None else (machine.host.now_ns() - self._worked_ns) / 1e9
            if rested >= _SHORT_REST_S:
                seconds = min(max(_BUSY_SHARE * rested, _LEAST_BUSY_S), most)
                keep_busy(machine.gpu, seconds=seconds, host=machine.host)

    def _too_hot(self, groups: list[_Group], number: int) -> bool:
        """Read why the clocks are held down; note a power cap, and say whether heat was the reason."""
        cells = [cell for group in groups if group.variant.needs_gpu for cell in group.cells]
        if not cells or self.machine.gpu is None:
            return False
        throttle = self.machine.read_clocks().throttle
        for cell in cells:
            if any("power" in reason for reason in throttle) and number in cell.rounds:
                cell.note("power cap: the clocks were held down")
        return any("thermal" in reason for reason in throttle)

    def _warning(self, discarded: int, hot: int) -> str:
        where = f"{format_size(self.trial.size)} {self.trial.plan.size_name}"
        again = "1 round was" if discarded == 1 else f"{discarded} rounds were"
        kept = f", {hot} kept although the GPU was too hot" if hot else ""
        return f"thermal slowdown at {where}: {again} measured again{kept}"

    def _discard(self, groups: list[_Group], number: int) -> None:
        for cell in [cell for group in groups for cell in group.cells]:
            cell.discard(number)


T = TypeVar("T")
_QUICK_BUDGET_S, _LEAST_BUDGET_S = 0.05, 0.01


@dataclass
class Runner:
    """One run of a study.

    Parameters
    ----------
    plan : Plan
        The study.
    session : Session
        Gives machine and budget, and keeps the results.
    variants : sequence of Variant
        Those to run.
    sizes : sequence of int
        Increasing.
    quick : bool
        Take one sample a round.
    seed : int
        Of inputs and order.
    """

    plan: Plan
    session: Session
    variants: Sequence[Variant]
    sizes: Sequence[int]
    quick: bool = False
    seed: int = 0
    measurements: list[Measurement] = field(default_factory=list, init=False)
    checks: list[CheckResult] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    _forecast: CpuForecast = field(default_factory=CpuForecast, init=False)

    def run(self) -> Results:
        """Check and time every cell, and keep the results in the session.

        Returns
        -------
        Results
            One row for each cell, with samples or with the reason why there are none.
        """
        self._measure_ceilings()
        with Progress(self.plan.title, len(self.sizes) * len(self.variants)) as progress:
            for i, size in enumerate(self.sizes):
                self._size(size, cells_left=(len(self.sizes) - i) * len(self.variants))
                progress.advance(len(self.variants), f"{size:,} {self.plan.size_name}")
        results = self._results()
        self.session.add_study(results)
        return results

    def _measure_ceilings(self) -> None:
        wanted = any(variant.needs_gpu and variant.traffic for variant in self.variants)
        if wanted and not self.quick and self.session.machine.gpu is not None:
            self.session.measure_ceilings()

    def _size(self, size: int, cells_left: int) -> None:
        live = [variant for variant in self.variants if not self._cannot_run(variant, size)]
        for kind in ("exact", "random"):
            machine = self.session.machine
            trial = Trial(
                self.plan, size, kind, machine.spaces, machine.gpu, seed=self.seed, host=machine.host
            )
            live = [variant for variant in live if self._passes(trial, variant)]
        if live:
            live = [variant for variant in live if not self._too_slow(trial, variant)]
            self._time(trial, live, cells_left)
        del trial
        self._free()

    def _cannot_run(self, variant: Variant, size: int) -> bool:
        reason = ""
        if variant.needs_gpu and self.session.machine.gpu is None:
            reason = "no GPU on this machine"
        elif variant.max_size is not None and size > variant.max_size:
            reason = variant.max_size_reason or f"not made for sizes above {variant.max_size:,}"
        elif not variant.needs_gpu:
            reason = self._forecast.reason(variant.name, size)
        return bool(reason) and self._skip(variant, size, reason)

    def _skip(self, variant: Variant, size: int, reason: str) -> bool:
        self.measurements.append(Measurement(variant.name, size, variant.clock, reason=reason))
        return True

    def _passes(self, trial: Trial, variant: Variant) -> bool:
        result = self._if_memory_allows(trial, variant, lambda: trial.check(variant))
        if result is not None:
            self.checks.append(result)
        return result is not None

    def _too_slow(self, trial: Trial, variant: Variant) -> bool:
        """Skip a CPU variant whose checked call alone took longer than a cell may."""
        if variant.needs_gpu:
            return False
        took_s = trial.call_ns[variant.name] / 1e9
        self._forecast.add(variant.name, trial.size, took_s)
        if took_s <= CPU_LIMIT_S:
            return False
        return self._skip(
            variant, trial.size, f"skipped: one call took {took_s:.2g} s; the limit is {CPU_LIMIT_S:g} s"
        )

    def _if_memory_allows(self, trial: Trial, variant: Variant, action: Callable[[], T]) -> T | None:
        try:
            return action()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            where = " on the GPU" if variant.needs_gpu else ""
            needs = trial.describe_bytes()
            reason = f"out of memory{where} at {needs}: {error}"
        self._free()
        self._skip(variant, trial.size, reason)
        return None

    def _time(self, trial: Trial, live: Iterable[Variant], cells_left: int) -> None:
        machine = self.session.machine
        rounds = Rounds(trial, machine, self.quick, self.seed)
        for variant in live:
            if variant.clock == "first_call":
                self._first_call(variant, trial.size)
                continue
            budget_s = self._budget_s(variant, cells_left)
            make = partial(make_cells, trial, variant, machine.gpu, machine.host)
            made = self._if_memory_allows(
                trial, variant, partial(make, cache=self.plan.cache, budget_s=budget_s)
            )
            if made is not None:
                rounds.add(variant, *made)
        rounds.run(partial(self._if_memory_allows, trial))
        self._keep(rounds, trial.size)

    def _budget_s(self, variant: Variant, cells_left: int) -> float:
        """Return the seconds for one cell: its limit, or its share of what is left of the budget."""
        limit_s = BUDGET_S if variant.needs_gpu else CPU_BUDGET_S
        share_s = self.session.remaining_s() / cells_left
        return max(_LEAST_BUDGET_S, min(_QUICK_BUDGET_S if self.quick else limit_s, share_s))

    def _first_call(self, variant: Variant, size: int) -> None:
        samples = time_first_call(variant.target, n_processes=2 if self.quick else 5)
        self.measurements.append(
            Measurement(
                variant.name,
                size,
                "first_call",
                samples.ns,
                tuple(range(len(samples.ns))),
                method=samples.method,
            )
        )

    def _keep(self, rounds: Rounds, size: int) -> None:
        dtype = np.dtype(self.plan.dtype)
        for cell in rounds.cells:
            measurement = cell.measurement(size, dtype, self.plan.cache)
            if self.session.machine.info is not None and cell.variant.needs_gpu:
                check_plausible(measurement, self.session.machine.info)
            self._forecast_from(measurement)
            self.measurements.append(measurement)
        self.checks += rounds.checks
        self.warnings += rounds.warnings

    def _forecast_from(self, measurement: Measurement) -> None:
        if measurement.clock == "host" and measurement.n:
            self._forecast.add(measurement.variant, measurement.size, measurement.median_s)

    def _free(self) -> None:
        for space in set(self.session.machine.spaces.values()):
            self.session.peak_memory_bytes = max(self.session.peak_memory_bytes, pool_bytes(space))
            free_pools(space)

    def _results(self) -> Results:
        order = {variant.name: i for i, variant in enumerate(self.variants)}
        info: Any = self.session.machine.info
        return Results(
            name=self.plan.name,
            title=self.plan.title,
            size_name=self.plan.size_name,
            dtype=self.plan.dtype,
            input_note=self.plan.input_note,
            tolerance_note=self.plan.tolerance_note,
            cache=self.plan.cache,
            variants=tuple(variant.info() for variant in self.variants),
            sizes=tuple(self.sizes),
            measurements=tuple(sorted(self.measurements, key=lambda cell: (cell.size, order[cell.variant]))),
            checks=tuple(self.checks),
            ceilings=self.session.ceilings,
            l2_bytes=None if info is None else info.l2_bytes,
            warnings=tuple(self.warnings),
            quick=self.quick,
        )
