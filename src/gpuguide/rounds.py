"""Samples the cells of one size in shuffled rounds, and checks each variant's last output."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gpuguide.gate import Trial
from gpuguide.plan import Variant, generator
from gpuguide.results import CheckResult
from gpuguide.sampling import MIN_ROUNDS, Cell, KeptCall
from gpuguide.session import Machine
from gpuguide.timing import keep_busy
from gpuguide.units import format_size

__all__ = ["Rounds"]

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
