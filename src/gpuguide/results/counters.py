"""The GPU's hardware counters of a kernel, as data, and how the kernels of one call are combined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.records import check_fields, refuse_twice
from gpuguide.results.units import format_quantity, format_size

__all__ = ["COUNTERS", "NOT_COUNTED", "Counted", "Counter", "KernelCounts", "counted_at"]

#: Shown for a counter that was not read for the present code.
NOT_COUNTED = "not counted yet"


@dataclass(frozen=True)
class Counter:
    """A counter as pages name it."""

    words: str
    unit: str = ""
    of_all: str = "longest"


#: Names that pages use, in the order in which a card would list them.
COUNTERS = {
    "registers": Counter("registers per thread"),
    "occupancy": Counter("warps resident on a multiprocessor, of the most that it can hold", "%"),
    "dram_bytes": Counter("bytes between the GPU's memory and its caches", "B", "sum"),
    "dram_throughput": Counter("rate between the GPU's memory and its caches", "B/s"),
    "load_sectors_per_request": Counter("sectors per load of a warp from global memory"),
    "store_sectors_per_request": Counter("sectors per store of a warp to global memory"),
    "bank_conflicts": Counter("extra turns of shared memory because of bank conflicts", "", "sum"),
    "shared_wavefronts": Counter("turns that shared memory takes to serve warps", "", "sum"),
    "l2_write_sectors": Counter("sectors written to the L2 cache", "", "sum"),
    "instructions": Counter("instructions issued to warps", "", "sum"),
    "active_lanes": Counter("threads of a warp that take part in an instruction"),
    "issue_active": Counter("clock cycles in which a scheduler issues an instruction", "%"),
    "fp64_active": Counter("use of the ordinary FP64 units", "%"),
    "fp32_active": Counter("use of the FP32 units", "%"),
    "alu_active": Counter("use of the integer units", "%"),
    "stall_cycles": Counter("cycles that a warp waits per instruction, for its most frequent reason"),
}


@dataclass(frozen=True)
class KernelCounts:
    """What was counted for one kernel."""

    name: str
    duration_s: float
    values: tuple[tuple[str, float], ...]
    stall: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        for counter, value in self.values:
            if counter not in COUNTERS:
                raise unknown("counter", counter, COUNTERS)
            if not 0 <= value < 2.0**63:
                raise ArgumentError(f"counter {counter!r}: expected a finite number from 0; got {value!r}.")
        refuse_twice("KernelCounts", "counter", [counter for counter, _ in self.values])


@dataclass(frozen=True)
class Counted:
    """What was counted for one call of a variant."""

    study: str
    variant: str
    size: int
    kernels: tuple[KernelCounts, ...]

    @property
    def longest(self) -> KernelCounts:
        """The kernel that took longest."""
        return max(self.kernels, key=lambda kernel: kernel.duration_s)

    @property
    def names(self) -> tuple[str, ...]:
        """Counters that are known for the longest kernel."""
        return tuple(name for name, _ in self.longest.values)

    def value(self, counter: str) -> float:
        """Return one number for the whole call."""
        if counter not in self.names:
            raise unknown("counter", counter, self.names)
        if COUNTERS[counter].of_all == "longest":
            return dict(self.longest.values)[counter]
        return sum(dict(kernel.values).get(counter, 0.0) for kernel in self.kernels)

    def shown(self, counter: str) -> str:
        """Return `value` as readers see it, with its unit and three digits at most."""
        value, unit = self.value(counter), COUNTERS[counter].unit
        if unit == "%":
            return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %"
        if unit:
            return format_quantity(value, unit)
        if value == int(value) and value < 10_000:
            return f"{int(value)}"
        return _with_words(value) if value >= 10_000 else f"{value:.3g}"


def _in_words(counted: Counted) -> str:
    n = len(counted.kernels)
    kernels = "1 kernel" if n == 1 else f"{n} kernels, the longest of them"
    shown = ", ".join(f"{name} {counted.shown(name)}" for name in counted.names) if n else "nothing"
    where = f"{counted.study}[{counted.variant}, {format_size(counted.size)}]"
    return f"<Counted {where} of {kernels}: {shown}>"


# A call may run a hundred kernels, with names of a hundred letters. Set from outside, because the special
# methods of a record's class belong to what recordings depend on, and how a record is printed must not.
Counted.__repr__ = _in_words  # type: ignore[method-assign, assignment]


def _with_words(value: float) -> str:
    for power, word in ((10**9, "billion"), (10**6, "million")):
        if value >= power:
            return f"{value / power:.3g} {word}"
    return f"{round(value, -2):,.0f}".replace(",", "\N{NO-BREAK SPACE}")


def counted_at(counted: Iterable[Counted], study: str, variant: str, size: int) -> Counted:
    """Find what was counted for a variant."""
    cells = {f"{each.study}[{each.variant}, {each.size}]": each for each in counted}
    wanted = f"{study}[{variant}, {size}]"
    if wanted not in cells:
        raise unknown("cell with counters", wanted, cells)
    return cells[wanted]
