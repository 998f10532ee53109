"""A ladder: the rungs of a study in its order, and which of its numbers the table and the strips show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpuguide.errors import ArgumentError
from gpuguide.results.results import Results
from gpuguide.results.starts import Quantity
from gpuguide.results.units import format_quantity

__all__ = ["MOST_ROWS", "Cell", "Done", "Ladder", "ladder_of"]

#: With more rows the table would not stay on the first screen of a phone.
MOST_ROWS = 9
_TELLING = 0.1
_UNITS = {
    "fp32": "the FP32 units",
    "fp64": "the ordinary FP64 units",
    "fp64_tensor": "the FP64 tensor cores",
    "tf32": "the TF32 tensor cores",
    "fp16_tensor": "the FP16 tensor cores",
    "bf16_tensor": "the BF16 tensor cores",
}


@dataclass(frozen=True)
class Cell:
    """A number of a study: what the role ``measured`` would be given, and the size that it is of."""

    key: str
    size: int


@dataclass(frozen=True)
class Done:
    """What a rung does, in words, with its numbers and the same numbers of the rung above."""

    words: str
    cells: tuple[Cell, ...]
    before: tuple[Cell, ...]
    share: Cell | None = None
    counts: str = ""


@dataclass(frozen=True)
class Ladder:
    """Rungs on one clock, each above the next, and rows beside them; all in the study's order."""

    results: Results
    clock: str
    rungs: tuple[str, ...]
    beside: tuple[str, ...]
    wrong: frozenset[str]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Rungs and what stands beside them."""
        return tuple(info.name for info in self.results.variants if info.name in {*self.rungs, *self.beside})

    def above(self, name: str) -> str:
        """Return the rung above; empty for the first one and for what stands beside."""
        at = self.rungs.index(name) if name in self.rungs else 0
        return self.rungs[at - 1] if at else ""

    def time(self, name: str, size: int) -> Cell | None:
        """Return the time of a row; None where it does not reach the size."""
        return self._cell(name, size, "time")

    def last_time(self, name: str) -> Cell | None:
        """Return the time at the largest listed size that a row reaches."""
        return next(filter(None, (self.time(name, size) for size in self.sizes[::-1])), None)

    def gain(self, name: str) -> Cell | None:
        """Return the gain over the rung above, at the largest listed size that both reach."""
        above = self.above(name)
        cells = (self._cell(name, size, "speedup", above) for size in self.sizes[::-1] if above)
        return next(filter(None, cells), None)

    def done(self, name: str) -> Done | None:
        """Return declared work, else the larger share of a ceiling or a rate, where the last time stands."""
        last, above = self.last_time(name), self.above(name)
        if last is None:
            return None
        size = last.size
        declared = [work.name for work in self.results.declared_work(name, size)]
        if declared:
            # Only work that the rung above counts as well can be compared.
            theirs = {work.name for work in self.results.declared_work(above, size)} if above else set()
            work = next((work for work in declared if work in theirs), declared[0])
            return Done(
                work.replace("_", " "),
                self._cells(name, size, ("work", "rate"), work),
                self._cells(above, size, ("work", "rate"), work) if work in theirs else (),
                self._cell(name, size, "share", work=work),
                work,
            )
        moved = self._moved(name, size)
        if moved is None:
            return None
        words, quantity = moved
        before = self._cells(above, size, (quantity,)) if above else ()
        if quantity == "flop_share" and before and self._unit(above, size) != self._unit(name, size):
            before = ()  # a share of other units is no value before
        return Done(words, self._cells(name, size, (quantity,)), before)

    @cached_property
    def best(self) -> frozenset[tuple[str, int]]:
        """The fastest rung at each size, and those whose times look the same as its time."""
        fastest = set()
        for size in self.sizes:
            times = {name: time for name in self.rungs if (time := self._value(name, size, "time"))}
            if len(times) > 1:
                shown = str(min(times.values(), key=lambda time: time.value))
                fastest |= {(name, size) for name, time in times.items() if str(time) == shown}
        return frozenset(fastest)

    def _value(self, name: str, size: int, quantity: str, of: str = "", work: str = "") -> Quantity | None:
        try:
            return self.results.quantity(name, size, quantity, of or None, work=work or None)
        except ArgumentError:
            return None

    def _cell(self, name: str, size: int, quantity: str, of: str = "", work: str = "") -> Cell | None:
        if self._value(name, size, quantity, of, work) is None:
            return None
        brackets = f"({of or work})" if of or work else ""
        return Cell(f"{self.results.name}[{name}, {size}].{quantity}{brackets}", size)

    def _cells(self, name: str, size: int, quantities: Iterable[str], work: str = "") -> tuple[Cell, ...]:
        return tuple(filter(None, (self._cell(name, size, quantity, work=work) for quantity in quantities)))

    def _unit(self, name: str, size: int) -> str:
        traffic = self.results.measurement(name, size).traffic
        return traffic.unit if traffic else ""

    def _moved(self, name: str, size: int) -> tuple[str, str] | None:
        traffic = self.results.measurement(name, size).traffic
        if traffic is None:
            return None
        share, flop_share = (self._value(name, size, quantity) for quantity in ("share", "flop_share"))
        # If memory or the launch decides, the share of the arithmetic units is close to zero.
        if flop_share and flop_share.value >= max(_TELLING * (share is None), share.value if share else 0):
            return f"share of what {_UNITS.get(traffic.unit, traffic.unit)} can do", "flop_share"
        if share:
            return "share of the memory ceiling", "share"
        if self._value(name, size, "rate"):
            return f"rate, {format_quantity(traffic.bytes_total, 'B')} moved", "rate"
        if self._value(name, size, "flop_rate"):
            return f"rate, {format_quantity(traffic.flops, '1')} operations", "flop_rate"
        return None


def ladder_of(
    results: Results,
    rungs: Sequence[str],
    beside: Sequence[str] = (),
    wrong: Iterable[str] = (),
    sizes: Sequence[int] = (),
) -> Ladder:
    """Build the ladder of a page."""
    infos = {name: results.variant(name) for name in (*rungs, *beside)}
    for size in sizes:
        results.measurement(results.variants[0].name, size)
    order = [info.name for info in results.variants]
    right = sorted({*rungs} - {*wrong} - {*beside}, key=order.index)
    clocks = Counter(infos[name].clock for name in right)
    # If two clocks have equally many rungs, that of the later ones.
    clock = max(reversed([infos[name].clock for name in right]), key=clocks.__getitem__, default="")
    numbered = tuple(name for name in right if infos[name].clock == clock)
    others = tuple(sorted(set(infos) - {*numbered}, key=order.index))
    ladder = Ladder(results, clock, numbered, others, frozenset(wrong), tuple(sorted(sizes or results.sizes)))
    if len(sizes) > 3:
        raise ArgumentError(f"A table of rungs lists one to three sizes; got {len(sizes)}.")
    if len(ladder.rows) > MOST_ROWS:
        raise ArgumentError(
            f"A table of rungs has at most {MOST_ROWS} rows; got {len(ladder.rows)}: "
            f"{', '.join(ladder.rows)}. Remove some from :beside:."
        )
    return ladder
