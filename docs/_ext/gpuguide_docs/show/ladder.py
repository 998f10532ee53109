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
        return Cell(self._key(name, size, "time"), size) if self._time(name, size) is not None else None

    def last_time(self, name: str) -> Cell | None:
        """Return the time at the largest listed size that a row reaches."""
        return self._first_of(self.time(name, size) for size in self._falling)

    def gain(self, name: str) -> Cell | None:
        """Return the gain over the rung above, at the largest listed size that both reach."""
        above = self.above(name)
        both = (size for size in self._falling if above and self._has(name, size, "speedup", above))
        return self._first_of(Cell(self._key(name, size, f"speedup({above})"), size) for size in both)

    def done(self, name: str) -> Done | None:
        """Return declared work, else the larger share of a ceiling or a rate, where the last time stands."""
        last = self.last_time(name)
        if last is None:
            return None
        size, above = last.size, self.above(name)
        declared = self._declared(name, size)
        if declared:
            # Only work that the rung above counts as well can be compared.
            shared = [work for work in declared if above and work in self._declared(above, size)]
            work = (shared or declared)[0]
            has_share = self._has(name, size, "share", work=work)
            return Done(
                work.replace("_", " "),
                self._counted(name, size, work),
                self._counted(above, size, work) if shared else (),
                Cell(self._key(name, size, f"share({work})"), size) if has_share else None,
                work,
            )
        found = self._moved(name, size)
        if found is None:
            return None
        words, quantity = found
        before = above and self._has(above, size, quantity)
        if quantity == "flop_share":  # a share of other units is no value before
            before = before and self._unit(above, size) == self._unit(name, size)
        return Done(
            words,
            (Cell(self._key(name, size, quantity), size),),
            (Cell(self._key(above, size, quantity), size),) if before else (),
        )

    def _declared(self, name: str, size: int) -> list[str]:
        return [work.name for work in self.results.declared_work(name, size)]

    def _counted(self, name: str, size: int, work: str) -> tuple[Cell, ...]:
        return tuple(Cell(self._key(name, size, f"{each}({work})"), size) for each in ("work", "rate"))

    @cached_property
    def best(self) -> frozenset[tuple[str, int]]:
        """The fastest rung at each size, and those whose times look the same as its time."""
        fastest = set()
        for size in self.sizes:
            times = {name: time for name in self.rungs if (time := self._time(name, size)) is not None}
            if len(times) > 1:
                shown = str(min(times.values(), key=lambda time: time.value))
                fastest |= {(name, size) for name, time in times.items() if str(time) == shown}
        return frozenset(fastest)

    @property
    def _falling(self) -> tuple[int, ...]:
        return self.sizes[::-1]

    def _key(self, name: str, size: int, quantity: str) -> str:
        return f"{self.results.name}[{name}, {size}].{quantity}"

    def _time(self, name: str, size: int) -> Quantity | None:
        try:
            return self.results.time(name, size)
        except ArgumentError:
            return None

    def _has(
        self, name: str, size: int, quantity: str, baseline: str | None = None, work: str | None = None
    ) -> bool:
        try:
            self.results.quantity(name, size, quantity, baseline, work=work)
        except ArgumentError:
            return False
        return True

    def _unit(self, name: str, size: int) -> str:
        traffic = self.results.measurement(name, size).traffic
        return traffic.unit if traffic else ""

    def _moved(self, name: str, size: int) -> tuple[str, str] | None:
        traffic = self.results.measurement(name, size).traffic
        if traffic is None:
            return None
        ceilings = {
            "share": "share of the memory ceiling",
            "flop_share": f"share of what {_UNITS.get(traffic.unit, traffic.unit)} can do",
        }
        shares = {
            quantity: self.results.quantity(name, size, quantity).value
            for quantity in ceilings
            if self._has(name, size, quantity)
        }
        # If memory or the launch decides, the share of the arithmetic units is close to zero.
        if "share" in shares or shares.get("flop_share", 0.0) >= _TELLING:
            largest = max(shares, key=shares.__getitem__)
            return ceilings[largest], largest
        if self._has(name, size, "rate"):
            return f"rate, {format_quantity(traffic.bytes_total, 'B')} moved", "rate"
        if self._has(name, size, "flop_rate"):
            return f"rate, {format_quantity(traffic.flops, '1')} operations", "flop_rate"
        return None

    @staticmethod
    def _first_of(cells: Iterable[Cell | None]) -> Cell | None:
        return next((cell for cell in cells if cell is not None), None)


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
