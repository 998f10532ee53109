"""Runs a study: at each size, variants pass the gate and are then timed in shuffled rounds.

`Runner` goes through the sizes and keeps a row for every variant, with samples or with the reason why there
are none; `Rounds` takes the samples of one size; a `Cell` holds those of one variant on one clock.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from gpuguide.errors import OutOfMemoryError
from gpuguide.machine.device import DeviceInfo
from gpuguide.machine.memory import is_out_of_memory
from gpuguide.measure.ceilings import check_plausible
from gpuguide.measure.clocks import GpuClock, HostClock
from gpuguide.measure.gate import Trial
from gpuguide.measure.host_pace import SHARED_NOTE
from gpuguide.measure.plan import Plan, Variant, generator
from gpuguide.measure.session import Session
from gpuguide.measure.stopping import MAX_SAMPLES, SLOW_NS, enough, has_two_modes
from gpuguide.measure.timing import (
    BUDGET_S,
    CPU_BUDGET_S,
    DeviceTimer,
    HostTimer,
    Timer,
    device_timer,
    end_to_end_timer,
    host_timer,
    keep_busy,
    launch_timer,
    next_sample,
)
from gpuguide.results.records import CheckResult, Measurement
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

__all__ = ["Cell", "CpuForecast", "KeptCall", "Progress", "Rounds", "Runner"]

CPU_LIMIT_S = 1.0
"""Seconds that a call of a CPU variant may take."""
MIN_ROUNDS = 5
"""Rounds in which every cell is sampled, unless its budget is spent earlier."""

# Five rounds of two samples are the ten after which a cell may stop. With sixteen in each further round,
# the limit of 100 is reached before the last one.
_MIN_SLOW_ROUNDS, _MAX_ROUNDS = 3, 12
_MAX_DISCARDED = 2
_SAMPLES, _MORE_SAMPLES = 2, 16  # per turn, in the rounds that every cell gets and in those after
_QUICK_BUDGET_S, _LEAST_BUDGET_S = 0.05, 0.01
_BUSY_S, _QUICK_BUSY_S, _LEAST_BUSY_S = 0.2, 0.02, 0.005
_SHORT_REST_S, _BUSY_SHARE = 0.001, 0.2
_LONG_NS = 10_000_000

T = TypeVar("T")


@dataclass
class CpuForecast:
    """Times of CPU variants at smaller sizes.

    Times are taken to grow at least in proportion to the size.
    """

    took_s: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, variant: str, size: int, seconds: float) -> None:
        """Note how long a call took; a later note on the same variant replaces it."""
        self.took_s[variant] = size, seconds

    def reason(self, variant: str, size: int) -> str:
        """Return why a size should be skipped, or ``""``."""
        before, seconds = self.took_s.get(variant, (0, 0.0))
        expected = seconds * size / before if before else 0.0
        if expected <= CPU_LIMIT_S:
            return ""
        return (
            f"skipped: {format_size(before)} took {seconds:.2f} s, so {format_size(size)} would take about "
            f"{expected:.{1 if expected < 10 else 0}f} s; the limit is {CPU_LIMIT_S:g} s"
        )


@dataclass
class Runner:
    """One run of a study."""

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
        """Check and time every cell, and keep the results in the session."""
        self._measure_ceilings()
        with Progress(self.plan.title, len(self.sizes) * len(self.variants)) as progress:
            for i, size in enumerate(self.sizes):
                self._size(size, cells_left=(len(self.sizes) - i) * len(self.variants))
                progress.advance(len(self.variants), f"{size:,} {self.plan.size_name}")
        results = self._results()
        self.session.add_study(results)
        return results

    def _measure_ceilings(self) -> None:
        # Only variants that declare traffic are compared with ceilings. Measuring these takes seconds, too
        # long for a quick run.
        wanted = any(variant.needs_gpu and variant.traffic for variant in self.variants)
        if wanted and not self.quick and self.session.machine.gpu is not None:
            self.session.measure_ceilings()

    def _size(self, size: int, cells_left: int) -> None:
        """Check every variant at one size, and time those that can be timed."""
        live = []
        for variant in self.variants:
            if reason := self._why_skipped(variant, size):
                self._skip(variant, size, reason)
            else:
                live.append(variant)
        # Random comes last, because its trial is timed: exact inputs are small whole numbers, or even
        # constant.
        for kind in ("exact", "random"):
            machine = self.session.machine
            trial = Trial(
                self.plan,
                size,
                kind,
                machine.spaces,
                machine.gpu,
                seed=self.seed,
                host=machine.host,
                steps=self.session.steps,
            )
            with self.session.steps.step("gate"):
                live = self._through_the_gate(trial, live)
        if live:
            with self.session.steps.step("timing"):
                self._time(trial, live, cells_left)
        # Before the memory is freed: the pools return only unused memory.
        del trial
        self.session.free_memory()

    def _why_skipped(self, variant: Variant, size: int) -> str:
        """Return why a variant cannot run at a size, or ``""``."""
        if variant.needs_gpu and self.session.machine.gpu is None:
            return "no GPU on this machine"
        if variant.max_size is not None and size > variant.max_size:
            return variant.max_size_reason or f"not made for sizes above {variant.max_size:,}"
        if missing := variant.why_missing():
            return missing
        return "" if variant.needs_gpu else self._forecast.reason(variant.name, size)

    def _skip(self, variant: Variant, size: int, reason: str) -> None:
        self.measurements.append(Measurement(variant.name, size, variant.clock, reason=reason))

    def _through_the_gate(self, trial: Trial, variants: Sequence[Variant]) -> list[Variant]:
        """Check variants; return those for which there was memory. A wrong result is an error."""
        passed = []
        for variant in variants:
            try:
                check = _within_memory(self.session, trial, variant, partial(trial.check, variant))
            except OutOfMemoryError as error:
                self._skip(variant, trial.size, str(error))
            else:
                self.checks.append(check)
                passed.append(variant)
        return passed

    def _time(self, trial: Trial, variants: Sequence[Variant], cells_left: int) -> None:
        """Sample the variants in turns, and keep a row of each."""
        rounds = Rounds(self.session, trial, self.quick, self.seed)
        for variant in variants:
            if reason := self._too_slow(trial, variant):
                self._skip(variant, trial.size, reason)
            else:
                rounds.add(variant, self._budget_s(variant, cells_left))
        rounds.run()
        for variant, reason in rounds.lost:
            self._skip(variant, trial.size, reason)
        for cell in rounds.cells:
            self._keep(cell, trial.size)
        self.checks += rounds.checks
        self.warnings += rounds.warnings

    def _too_slow(self, trial: Trial, variant: Variant) -> str:
        """Say why a CPU variant is not timed if its checked call took longer than a cell may; else ``""``."""
        if variant.needs_gpu:
            return ""
        took_s = trial.call_ns[variant.name] / 1e9
        self._forecast.add(variant.name, trial.size, took_s)
        if took_s <= CPU_LIMIT_S:
            return ""
        return f"skipped: one call took {took_s:.2g} s; the limit is {CPU_LIMIT_S:g} s"

    def _budget_s(self, variant: Variant, cells_left: int) -> float:
        """Return the seconds for one cell: its limit, or its share of what is left of the budget."""
        # The minimum leaves a few samples for every cell even if the session's budget is spent.
        limit_s = BUDGET_S if variant.needs_gpu else CPU_BUDGET_S
        share_s = self.session.remaining_s() / cells_left
        return max(_LEAST_BUDGET_S, min(_QUICK_BUDGET_S if self.quick else limit_s, share_s))

    def _keep(self, cell: Cell, size: int) -> None:
        info = self.session.machine.info
        measurement = cell.measurement(size, np.dtype(self.plan.dtype), self.plan.cache, info)
        if info is not None and cell.variant.needs_gpu:
            check_plausible(measurement, info)
        if cell.clock == "host":
            self._forecast.add(
                cell.variant.name, size, median(measurement.samples_ns) / (1e9 * measurement.n_calls)
            )
        self.measurements.append(measurement)

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
            # Skipped variants were noted before the others were timed. The sort is stable, so a launch stays
            # before its device time.
            measurements=tuple(sorted(self.measurements, key=lambda cell: (cell.size, order[cell.variant]))),
            checks=tuple(self.checks),
            ceilings=self.session.ceilings,
            l2_bytes=None if info is None else info.l2_bytes,
            warnings=tuple(self.warnings),
            quick=self.quick,
        )


def _within_memory(session: Session, trial: Trial, variant: Variant, action: Callable[[], T]) -> T:
    """Return what `action` returns; when memory is full, free it and raise OutOfMemoryError."""
    try:
        return action()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        where = " on the GPU" if variant.needs_gpu else ""
        reason = f"out of memory{where} at {trial.describe_bytes()}: {error}"
    # Only here, when the error is gone: its traceback held the arrays of the functions that failed.
    session.free_memory()
    raise OutOfMemoryError(reason)


@dataclass
class _Group:
    """The cells of one variant, which take their turns together; the last one's output is checked."""

    variant: Variant
    cells: list[Cell] = field(default_factory=list)
    kept: KeptCall | None = None
    checked: CheckResult | None = None
    lost: str = ""  # why, when memory ran out

    def finished(self, n_rounds: int) -> bool:
        return bool(self.lost) or self.cells[-1].finished(n_rounds)


@dataclass
class Rounds:
    """Interleaves the variants of one size.

    In each round every variant has one turn, in a newly shuffled order; GPU variants come before CPU ones, so
    that the GPU rests once per round. After a rest it is kept busy to bring its clocks up: for a fifth of the
    rest, at least 5 and at most 200 ms; before the first round, making the timers does that. (On an H200 only
    the first two copies of half a millisecond are slower after a rest of up to a second.)
    """

    session: Session
    trial: Trial
    quick: bool = False
    seed: int = 0
    checks: list[CheckResult] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    _groups: list[_Group] = field(default_factory=list, init=False)
    _worked_ns: int | None = field(default=None, init=False)  # when the GPU last had work
    _turns: int = field(default=0, init=False)

    def add(self, variant: Variant, budget_s: float) -> None:
        """Add a variant: make its timers, which warm up and choose how to time it."""
        machine, cache = self.session.machine, self.trial.plan.cache
        group = _Group(variant)
        make = partial(
            make_cells, self.trial, variant, machine.gpu, machine.host, cache=cache, budget_s=budget_s
        )
        try:
            group.cells, group.kept = _within_memory(self.session, self.trial, variant, make)
        except OutOfMemoryError as error:
            group.lost = str(error)
        self._groups.append(group)
        if variant.needs_gpu:
            self._worked_ns = machine.host.now_ns()  # making the timers kept it busy

    @property
    def cells(self) -> list[Cell]:
        """The cells that have samples."""
        return [cell for group in self._groups if not group.lost for cell in group.cells if cell.ns]

    @property
    def lost(self) -> list[tuple[Variant, str]]:
        """The variants that ran out of memory, and the message."""
        return [(group.variant, group.lost) for group in self._groups if group.lost]

    def run(self) -> None:
        """Sample until every cell has enough; a variant that runs out of memory is left out."""
        number, discarded, hot, most = 0, 0, 0, MIN_ROUNDS if self.quick else _MAX_ROUNDS
        while number < most and (active := [group for group in self._groups if not group.finished(number)]):
            for group in self._shuffled(active):
                turn = partial(self._turn, group, number, is_last=number + 1 == most)
                try:
                    _within_memory(self.session, self.trial, group.variant, turn)
                except OutOfMemoryError as error:
                    group.lost = str(error)
            too_hot = self._too_hot(active, number)
            if too_hot and discarded < _MAX_DISCARDED:
                discarded += 1
                # For all variants, because ratios are taken within a round.
                for cell in [cell for group in active for cell in group.cells]:
                    cell.discard(number)
            else:
                number, hot = number + 1, hot + too_hot
        if discarded:
            self.warnings.append(self._warning(discarded, hot))
        self.checks += [g.checked for g in self._groups if g.checked is not None and not g.lost]

    def _shuffled(self, groups: list[_Group]) -> list[_Group]:
        # Counts repeated rounds as well, so that they get another order.
        self._turns += 1
        words = (self.trial.plan.name, self.trial.size, "order", self.seed, self._turns)
        order = [groups[i] for i in generator(*words).permutation(len(groups))]
        # The sort is stable: within the GPU's variants, and within the CPU's, the order stays shuffled.
        return sorted(order, key=lambda group: not group.variant.needs_gpu)

    def _turn(self, group: _Group, number: int, *, is_last: bool) -> None:
        """Sample one variant; when it has enough, check what the last sample left behind."""
        self._prepare(group.variant)
        n = 1 if self.quick else _SAMPLES if number < MIN_ROUNDS else _MORE_SAMPLES
        for cell in group.cells:
            # The last one is always sampled, because its output is the one checked at the end.
            if cell is group.cells[-1] or not cell.finished(number):
                cell.take(number, n, self.session.machine.host)
        if group.variant.needs_gpu:
            self._worked_ns = self.session.machine.host.now_ns()
        if is_last or group.finished(number + 1):
            returned = None if group.kept is None else group.kept.result
            group.checked = self.trial.verify(group.variant, returned, "after")

    def _prepare(self, variant: Variant) -> None:
        """Blank the output, so that the check after timing sees this variant's; wake the GPU."""
        machine = self.session.machine
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
        """Read why the clocks are throttled; note a power cap, and say whether heat was the reason."""
        cells = [cell for group in groups if group.variant.needs_gpu for cell in group.cells]
        if not cells or self.session.machine.gpu is None:
            return False
        throttle = self.session.read_clocks().throttle
        for cell in cells:
            if any("power" in reason for reason in throttle) and number in cell.rounds:
                cell.note("power cap: the clocks were held down")
        return any("thermal" in reason for reason in throttle)

    def _warning(self, discarded: int, hot: int) -> str:
        where = f"{format_size(self.trial.size)} {self.trial.plan.size_name}"
        again = "1 round was" if discarded == 1 else f"{discarded} rounds were"
        kept = f", {hot} kept although the GPU was too hot" if hot else ""
        return f"thermal slowdown at {where}: {again} measured again{kept}"


@dataclass
class Cell:
    """One variant at one size on one clock, while it is measured."""

    variant: Variant
    clock: str
    timer: Timer
    budget_s: float
    warm: bool = True
    ns: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    paces: list[int] = field(default_factory=list)  # the host's pace beside each sample; 0 on the GPU's clock
    notes: list[str] = field(default_factory=list)
    spent_s: float = 0.0

    def take(self, number: int, n: int, host: HostClock) -> None:
        """Take up to `n` samples in one round, within a share of the budget."""
        begin = before = host.now_ns()
        turn_ns = self.budget_s / MIN_ROUNDS * 1e9
        # A quick run, with one sample per turn, does not pay for a second one.
        pending = self._next() if self.warm and n > 1 else None
        # The work after a launch may be long although the launch is short.
        if pending is not None and host.now_ns() - begin < _LONG_NS:
            pending = None
        for _ in range(min(n, MAX_SAMPLES - len(self.ns))):
            sample = pending or self._next()
            pending = None
            # Events resolve about half a microsecond, so a time can be 0, from which no ratio can be formed.
            self.ns.append(max(1, sample))
            self.rounds.append(number)
            self.paces.append(self.timer.pace_ns)
            started, before = before, host.now_ns()
            if before - begin + (before - started) > turn_ns:  # another one would not fit
                break
        self.spent_s += (host.now_ns() - begin) / 1e9

    def discard(self, number: int) -> None:
        """Forget the samples of one round."""
        others = [i for i, at in enumerate(self.rounds) if at != number]
        self.ns, self.rounds, self.paces = (
            [numbers[i] for i in others] for numbers in (self.ns, self.rounds, self.paces)
        )

    def kept(self) -> tuple[list[int], list[int], bool]:
        """Return the samples that a median may use."""
        if not isinstance(self.timer, HostTimer):
            return self.ns, self.rounds, False
        chosen, shared = self.timer.host.pace.kept(self.paces)
        return [self.ns[i] for i in chosen], [self.rounds[i] for i in chosen], shared

    def _next(self) -> int:
        return next_sample(self.timer, self.ns, self.rounds, self.paces)

    def note(self, text: str) -> None:
        """Add a warning once."""
        if text not in self.notes:
            self.notes.append(text)

    def finished(self, n_rounds: int) -> bool:
        """Say whether enough samples were taken."""
        # There are none before the first round, or if the only round was too hot and is repeated.
        if not self.ns:
            return False
        if self.spent_s >= self.budget_s:
            return n_rounds >= (_MIN_SLOW_ROUNDS if max(self.ns) > SLOW_NS else MIN_ROUNDS)
        return n_rounds >= MIN_ROUNDS and (len(self.ns) >= MAX_SAMPLES or enough(self.kept()[0]))

    def measurement(
        self, size: int, dtype: np.dtype[Any], cache: str, device: DeviceInfo | None = None
    ) -> Measurement:
        """Return what was measured as a record."""
        ns, rounds, shared = self.kept()
        samples = self.timer.samples(ns)
        traffic = self.variant.traffic if self.clock != "launch" else None
        if shared:
            self.note(SHARED_NOTE)
        if has_two_modes(ns):
            self.note("two modes: the median represents neither")
        return Measurement(
            self.variant.name,
            size,
            self.clock,
            tuple(ns),
            tuple(rounds),
            n_calls=samples.n_calls,
            method=samples.method,
            # Only the device's timer flushes.
            cache=cache if self.clock == "device" else "warm",
            host_bound=samples.host_bound,
            floor_ns=samples.floor_ns,
            traffic=None if traffic is None else traffic(size, dtype),
            notes=(*samples.notes, *self.notes),
            work=() if self.clock == "launch" else self.variant.counted(size, dtype, device),
        )


@dataclass
class KeptCall:
    """A call that allocates its result, with the last result kept for the check after timing.

    The old result is dropped before the new one is made, so that the memory pool hands out the same block.
    """

    call: Callable[[], Any]
    result: Any = None

    def __call__(self) -> Any:
        """Make the call and keep what it returns."""
        self.result = None
        self.result = self.call()
        return self.result


def make_cells(
    trial: Trial, variant: Variant, gpu: GpuClock | None, host: HostClock, *, cache: str, budget_s: float
) -> tuple[list[Cell], KeptCall | None]:
    """Make the timers of one variant at one size: they warm up and choose how to time it."""
    with trial.on_stream(variant):
        trial.buffers(variant).restore()  # the time of a call may depend on its data
        once = trial.call(variant)
    kept = KeptCall(once) if variant.allocates else None
    call = kept or once
    reset = trial.buffers(variant).reset if variant.mutates else None
    # The gate has warmed up a slow call; two more would use up most of the cell's budget.
    known_ns = trial.call_ns.get(variant.name, 0)
    if gpu is None or not variant.needs_gpu:
        timer: HostTimer | DeviceTimer = host_timer(
            call, host=host, reset=reset, threads=variant.threads or 1, known_ns=known_ns
        )
        return [Cell(variant, "host", timer, budget_s)], kept
    if variant.clock == "end_to_end":
        timer = end_to_end_timer(call, gpu, host=host, reset=reset, known_ns=known_ns)
        return [Cell(variant, "end_to_end", timer, budget_s)], kept
    launch = launch_timer(call, gpu, host=host, budget_s=budget_s / 2, known_ns=known_ns)
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


class Progress:
    """A progress bar on stderr if that is a terminal; otherwise nothing, so that logs stay short."""

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total = title, total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        # Imported here: without a terminal nobody sees a bar.
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def advance(self, steps: int, done: str) -> None:
        """Move on."""
        if self._bar is not None:
            self._bar.update(self._task, advance=steps, description=f"{self._title}: {done}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
