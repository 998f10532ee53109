"""Runs a study: at each size, variants pass the gate and are then timed in shuffled rounds.

`Runner` goes through the sizes and keeps a row for every variant, with samples or with the reason why there
are none; `Rounds` takes the samples of one size; a `Cell` holds those of one variant on one clock.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from gpuguide.machine.device import DeviceInfo
from gpuguide.machine.memory import is_out_of_memory
from gpuguide.measure.ceilings import check_plausible
from gpuguide.measure.clocks import HostClock
from gpuguide.measure.gate import Trial
from gpuguide.measure.host_pace import SHARED_NOTE
from gpuguide.measure.plan import Plan, Variant, generator
from gpuguide.measure.session import Session
from gpuguide.measure.stopping import MAX_SAMPLES, SLOW_NS, enough, has_two_modes
from gpuguide.measure.timing import (
    BUDGET_S,
    CPU_BUDGET_S,
    Series,
    device_timer,
    end_to_end_timer,
    host_timer,
    in_rounds,
    keep_busy,
    launch_timer,
)
from gpuguide.results.records import CheckResult, Measurement
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

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
    _took_s: dict[str, tuple[int, float]] = field(default_factory=dict, init=False)  # by CPU variants

    def run(self) -> Results:
        """Check and time every cell, and keep the results in the session."""
        # Only variants that declare traffic are compared with ceilings. Measuring these takes seconds, too
        # long for a quick run.
        compared = any(variant.needs_gpu and variant.traffic for variant in self.variants)
        if compared and not self.quick and self.session.machine.gpu is not None:
            self.session.measure_ceilings()
        n = len(self.variants)
        with _progress(self.plan.title, len(self.sizes) * n) as advance:
            for i, size in enumerate(self.sizes):
                self._size(size, cells_left=(len(self.sizes) - i) * n)
                advance(n, f"{size:,} {self.plan.size_name}")
        results = self._results()
        self.session.add_study(results)
        return results

    def _size(self, size: int, cells_left: int) -> None:
        """Check every variant at one size, and time those that can be timed."""
        reasons = {variant.name: self._why_skipped(variant, size) for variant in self.variants}
        for variant in self.variants:
            self._skip(variant, size, reasons[variant.name])
        live = [variant for variant in self.variants if not reasons[variant.name]]
        machine, steps = self.session.machine, self.session.steps
        # Random comes last, because its trial is timed: exact inputs are small whole numbers, or even
        # constant.
        for kind in ("exact", "random"):
            trial = Trial(self.plan, size, kind, machine.spaces, machine.gpu, machine.host, self.seed, steps)
            with steps.step("gate"):
                live = [variant for variant in live if self._passes(trial, variant)]
        if live:
            with steps.step("timing"):
                self._time(trial, live, cells_left)
        # Before the memory is freed: the pools return only unused memory.
        del trial
        self.session.free_memory()

    def _why_skipped(self, variant: Variant, size: int) -> str:
        """Say why a variant cannot run at a size, or nothing."""
        if variant.needs_gpu and self.session.machine.gpu is None:
            return "no GPU on this machine"
        if variant.up_to is not None and size > variant.up_to:
            return variant.because
        return variant.why_missing() or ("" if variant.needs_gpu else self._why_too_slow(variant, size))

    def _why_too_slow(self, variant: Variant, size: int) -> str:
        """Say why a CPU variant would take too long: its time grows at least in proportion to the size."""
        before, took_s = self._took_s.get(variant.name, (size, 0.0))
        expected_s = took_s * size / before
        if expected_s <= CPU_LIMIT_S:
            return ""
        return (
            f"skipped: {format_size(before)} took {took_s:.2f} s, so {format_size(size)} would take about "
            f"{expected_s:.{1 if expected_s < 10 else 0}f} s; the limit is {CPU_LIMIT_S:g} s"
        )

    def _skip(self, variant: Variant, size: int, reason: str) -> None:
        if reason:
            self.measurements.append(Measurement(variant.name, size, variant.clock, reason=reason))

    def _passes(self, trial: Trial, variant: Variant) -> bool:
        """Check a variant; a wrong result is an error, and too little memory a reason to skip it."""
        reason = _why_memory_is_short(
            self.session, trial, variant, lambda: self.checks.append(trial.check(variant))
        )
        self._skip(variant, trial.size, reason)
        return not reason

    def _time(self, trial: Trial, variants: Sequence[Variant], cells_left: int) -> None:
        """Sample the variants in turns, and keep a row of each."""
        rounds = Rounds(self.session, trial, self.quick, self.seed)
        for variant in variants:
            took_s = 0.0 if variant.needs_gpu else trial.call_ns[variant.name] / 1e9
            if not variant.needs_gpu:
                self._took_s[variant.name] = trial.size, took_s
            if took_s > CPU_LIMIT_S:
                reason = f"skipped: one call took {took_s:.2g} s; the limit is {CPU_LIMIT_S:g} s"
                self._skip(variant, trial.size, reason)
            else:
                rounds.add(variant, self._budget_s(variant, cells_left))
        rounds.run()
        for group in rounds.groups:
            self._skip(group.variant, trial.size, group.lost)
        for group in rounds.groups:
            for cell in group.cells:
                # A round that was too hot may have been the only one.
                if cell.ns and not group.lost:
                    self._keep(cell, trial.size)
        self.checks += [group.checked for group in rounds.groups if group.checked and not group.lost]
        self.warnings += rounds.warnings

    def _budget_s(self, variant: Variant, cells_left: int) -> float:
        """Return the seconds for one cell: its limit, or its share of what is left of the budget."""
        # The minimum leaves a few samples for every cell even if the session's budget is spent.
        limit_s = BUDGET_S if variant.needs_gpu else CPU_BUDGET_S
        share_s = self.session.remaining_s() / cells_left
        return max(_LEAST_BUDGET_S, min(_QUICK_BUDGET_S if self.quick else limit_s, share_s))

    def _keep(self, cell: Cell, size: int) -> None:
        info, name = self.session.machine.info, cell.variant.name
        measurement = cell.measurement(size, np.dtype(self.plan.dtype), self.plan.cache, info)
        if info is not None and cell.variant.needs_gpu:
            check_plausible(measurement, info)
        if cell.clock == "host":
            self._took_s[name] = size, median(measurement.samples_ns) / (1e9 * measurement.n_calls)
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


def _why_memory_is_short(
    session: Session, trial: Trial, variant: Variant, action: Callable[[], object]
) -> str:
    """Act; where memory is full, free it and say so."""
    try:
        action()
        return ""
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        where = " on the GPU" if variant.needs_gpu else ""
        reason = f"out of memory{where} at {trial.describe_bytes()}: {error}"
    # Only here, when the error is gone: its traceback held the arrays of the functions that failed.
    session.free_memory()
    return reason


@dataclass(eq=False)
class Group:
    """The cells of one variant, which take their turns together; the last one's output is checked."""

    variant: Variant
    cells: list[Cell] = field(default_factory=list)
    kept: KeptCall | None = None
    checked: CheckResult | None = None
    lost: str = ""  # why, when memory ran out

    def finished(self, n_rounds: int) -> bool:
        """Say whether it needs no more turns."""
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
    groups: list[Group] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    _number: int = field(default=0, init=False)
    _worked_ns: int | None = field(default=None, init=False)  # when the GPU last had work
    _shuffles: int = field(default=0, init=False)

    @property
    def _most(self) -> int:
        return MIN_ROUNDS if self.quick else _MAX_ROUNDS

    def add(self, variant: Variant, budget_s: float) -> None:
        """Add a variant: make its timers, which warm up and choose how to time it."""
        group = Group(variant)
        make = partial(self._make_cells, group, budget_s)
        group.lost = _why_memory_is_short(self.session, self.trial, variant, make)
        self.groups.append(group)
        if variant.needs_gpu:
            self._worked_ns = self.session.machine.host.now_ns()  # making the timers kept it busy

    def _make_cells(self, group: Group, budget_s: float) -> None:
        trial, variant, cache = self.trial, group.variant, self.trial.plan.cache
        gpu, host = self.session.machine.gpu, self.session.machine.host
        with trial.on_stream(variant):
            trial.buffers(variant).restore()  # the time of a call may depend on its data
            once = trial.call(variant)
        group.kept = KeptCall(once) if variant.allocates else None
        call = group.kept or once
        reset = trial.buffers(variant).reset if variant.mutates else None
        # The gate has warmed up a slow call; two more would use up most of the cell's budget.
        known_ns = trial.call_ns.get(variant.name, 0)
        if gpu is None or not variant.needs_gpu:
            threads = variant.threads or 1
            timer = host_timer(call, host=host, reset=reset, threads=threads, known_ns=known_ns)
            group.cells = [Cell(timer, variant=variant, clock="host", budget_s=budget_s)]
        elif variant.clock == "end_to_end":
            timer = end_to_end_timer(call, gpu, host=host, reset=reset, known_ns=known_ns)
            group.cells = [Cell(timer, variant=variant, clock="end_to_end", budget_s=budget_s)]
        else:
            launch = launch_timer(call, gpu, host=host, budget_s=budget_s / 2, known_ns=known_ns)
            device = device_timer(
                call,
                gpu,
                cold=cache == "cold",
                reset=reset,
                batchable=variant.batchable,
                capturable=not variant.allocates,
            )
            warm = cache == "warm"
            group.cells = [
                Cell(launch, variant=variant, clock="launch", budget_s=budget_s),
                Cell(device, variant=variant, clock="device", budget_s=budget_s, warm=warm),
            ]

    def run(self) -> None:
        """Sample until every cell has enough; a variant that runs out of memory is left out."""
        discarded = hot = 0
        for taken in in_rounds(self._active, self._turn, self._shuffled):
            too_hot = self._too_hot(list(taken))
            if too_hot and discarded < _MAX_DISCARDED:
                discarded += 1
                # For all variants, because ratios are taken within a round.
                for cell in [cell for group in taken for cell in group.cells]:
                    cell.discard(self._number)
            else:
                self._number, hot = self._number + 1, hot + too_hot
        if discarded:
            self.warnings.append(self._warning(discarded, hot))

    def _active(self) -> list[Group]:
        over = self._number == self._most
        return [] if over else [group for group in self.groups if not group.finished(self._number)]

    def _shuffled(self, groups: Sequence[Group]) -> list[Group]:
        # Counts repeated rounds as well, so that they get another order.
        self._shuffles += 1
        words = (self.trial.plan.name, self.trial.size, "order", self.seed, self._shuffles)
        order = [groups[i] for i in generator(*words).permutation(len(groups))]
        # The sort is stable: within the GPU's variants, and within the CPU's, the order stays shuffled.
        return sorted(order, key=lambda group: not group.variant.needs_gpu)

    def _turn(self, group: Group) -> None:
        sample = partial(self._sample, group)
        group.lost = _why_memory_is_short(self.session, self.trial, group.variant, sample)

    def _sample(self, group: Group) -> None:
        """Sample one variant; when it has enough, check what the last sample left behind."""
        self._prepare(group.variant)
        number, host = self._number, self.session.machine.host
        n = 1 if self.quick else _SAMPLES if number < MIN_ROUNDS else _MORE_SAMPLES
        for cell in group.cells:
            # The last one is always sampled, because its output is the one checked at the end.
            if cell is group.cells[-1] or not cell.finished(number):
                cell.take(number, n, host)
        if group.variant.needs_gpu:
            self._worked_ns = host.now_ns()
        if number + 1 == self._most or group.finished(number + 1):
            returned = None if group.kept is None else group.kept.result
            group.checked = self.trial.verify(group.variant, returned, "after")

    def _prepare(self, variant: Variant) -> None:
        """Blank the output, so that the check after timing sees this variant's; wake the GPU."""
        machine = self.session.machine
        buffers = self.trial.buffers(variant)
        with self.trial.on_stream(variant):
            if any(group.variant.mutates for group in self.groups) and not variant.mutates:
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

    def _too_hot(self, groups: Sequence[Group]) -> bool:
        """Read why the clocks are throttled; note a power cap, and say whether heat was the reason."""
        cells = [cell for group in groups if group.variant.needs_gpu for cell in group.cells]
        if not cells or self.session.machine.gpu is None:
            return False
        throttle = self.session.read_clocks().throttle
        for cell in cells:
            if any("power" in reason for reason in throttle) and self._number in cell.rounds:
                cell.note("power cap: the clocks were held down")
        return any("thermal" in reason for reason in throttle)

    def _warning(self, discarded: int, hot: int) -> str:
        where = f"{format_size(self.trial.size)} {self.trial.plan.size_name}"
        again = "1 round was" if discarded == 1 else f"{discarded} rounds were"
        kept = f", {hot} kept although the GPU was too hot" if hot else ""
        return f"thermal slowdown at {where}: {again} measured again{kept}"


@dataclass(kw_only=True)
class Cell(Series):
    """One variant at one size on one clock, while it is measured."""

    variant: Variant
    clock: str
    budget_s: float
    warm: bool = True
    notes: list[str] = field(default_factory=list)
    spent_s: float = 0.0

    def take(self, number: int, n: int, host: HostClock) -> None:
        """Take up to `n` samples in one round, within a share of the budget."""
        begin = before = host.now_ns()
        turn_ns = self.budget_s / MIN_ROUNDS * 1e9
        # A quick run, with one sample per turn, does not pay for a second one.
        pending = self.sample() if self.warm and n > 1 else None
        # The work after a launch may be long although the launch is short.
        if pending is not None and host.now_ns() - begin < _LONG_NS:
            pending = None
        for _ in range(min(n, MAX_SAMPLES - len(self.ns))):
            sample = pending or self.sample()
            pending = None
            # Events resolve about half a microsecond, so a time can be 0, from which no ratio can be formed.
            self.add(max(1, sample), number)
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


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a bar on stderr if that is a terminal; otherwise nothing, so that logs stay short."""
    if not sys.stderr.isatty():
        yield lambda steps, done: None
        return
    # Imported here: without a terminal nobody sees a bar.
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps, done: bar.update(task, advance=steps, description=f"{title}: {done}")
