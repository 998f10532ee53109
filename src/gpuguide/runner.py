"""Runs a study: at each size the gate for every variant, then the clocks, in shuffled rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from gpuguide.ceilings import check_plausible
from gpuguide.first_call import time_first_call
from gpuguide.forecast import CPU_LIMIT_S, CpuForecast
from gpuguide.gate import Trial
from gpuguide.memory import free_pools, is_out_of_memory, pool_bytes
from gpuguide.plan import Plan, Variant
from gpuguide.progress import Progress
from gpuguide.results import CheckResult, Measurement, Results
from gpuguide.rounds import Rounds
from gpuguide.sampling import make_cells
from gpuguide.session import Session
from gpuguide.timing import BUDGET_S, CPU_BUDGET_S

__all__ = ["Runner"]

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
