"""The most that a machine was measured to do, as data, and the share of it that a measurement reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gpuguide.errors import ImplausibleError, unknown
from gpuguide.results.records import Measurement, Traffic, brief, check_fields, one_of, refuse_twice
from gpuguide.results.starts import expected
from gpuguide.results.units import format_quantity

__all__ = ["MEMORY_MIXES", "Ceiling", "Ceilings", "in_l2"]

MEMORY_MIXES = {"write": 0.0, "copy": 0.5, "two_to_one": 2 / 3, "read": 1.0}
"""Fraction of the bytes that are read, for each mix of device-memory traffic whose ceiling is measured."""


@dataclass(frozen=True)
class Ceiling:
    """The most that this machine was measured to do of one kind of work."""

    mix: str = field(
        metadata=one_of(
            "read",
            "write",
            "copy",
            "two_to_one",
            "h2d",
            "d2h",
            "both_ways",
            "fp32",
            "fp64",
            "fp64_tensor",
            "tf32",
            "fp16_tensor",
            "bf16_tensor",
            "launch",
            "launch_host",
        )
    )
    value: float
    unit: str = field(metadata=one_of("B/s", "FLOP/s", "s"))
    samples_ns: tuple[int, ...] = ()
    work: int = 0
    kernel: str = ""

    def __repr__(self) -> str:
        return brief(self)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Ceilings:
    """What one machine can do, by mix of reads and writes, as measured by one session."""

    items: tuple[Ceiling, ...] = ()

    def __repr__(self) -> str:
        best = ", ".join(f"{item.mix} {format_quantity(item.value, item.unit)}" for item in self.items)
        return f"<Ceilings: {best or 'none'}>"

    def __post_init__(self) -> None:
        refuse_twice("Ceilings", "mix", [item.mix for item in self.items])

    @staticmethod
    def over_starts(runs: Sequence[tuple[str, Ceilings]]) -> Ceilings:
        """Return the median of each ceiling over the machine starts, with the samples of the newest run."""
        values: dict[str, list[tuple[str, float]]] = {}
        for start, run in runs:
            for item in run.items:
                values.setdefault(item.mix, []).append((start, item.value))
        newest = runs[-1][1].items
        medians = {item.mix: expected(values[item.mix]).value for item in newest}
        return Ceilings(tuple(replace(item, value=medians[item.mix]) for item in newest))

    def get(self, mix: str) -> Ceiling:
        """Return the ceiling of a mix; an unknown one raises UnknownNameError, which names the nearest."""
        for item in self.items:
            if item.mix == mix:
                return item
        raise unknown("ceiling", mix, [item.mix for item in self.items])

    def for_traffic(self, traffic: Traffic) -> float:
        """Return the rate (B/s) that memory allows for this mix of reads and writes.

        Between two measured mixes the rate is interpolated along the fraction of bytes that are read.
        """
        fraction = traffic.read_fraction
        points = sorted((MEMORY_MIXES[i.mix], i.value) for i in self.items if i.mix in MEMORY_MIXES)
        below = [point for point in points if point[0] <= fraction]
        above = [point for point in points if point[0] >= fraction]
        if not below or not above:
            kind = f"ceiling for a mix of which {fraction:.0%} is read"
            raise unknown(kind, "memory", [item.mix for item in self.items])
        # A mix that was itself measured is on both sides.
        (left, low), (right, high) = below[-1], above[0]
        return low if right == left else low + (high - low) * (fraction - left) / (right - left)

    def share(self, measurement: Measurement, l2_bytes: int | None) -> float | None:
        """Return the share that a kernel reaches of the ceiling for its own mix of reads and writes."""
        rate, traffic = measurement.bandwidth, measurement.traffic
        if rate is None or traffic is None or measurement.clock != "device":
            return None
        if l2_bytes is None or in_l2(measurement, l2_bytes):
            return None
        return _at_most_one(rate / self.for_traffic(traffic), measurement, "memory")

    def flop_share(self, measurement: Measurement) -> float | None:
        """Return the share that a kernel reaches of the ceiling of its arithmetic unit."""
        rate, traffic = measurement.flop_rate, measurement.traffic
        if rate is None or traffic is None or measurement.clock != "device":
            return None
        ceiling = {item.mix: item.value for item in self.items if item.unit == "FLOP/s"}.get(traffic.unit)
        return None if ceiling is None else _at_most_one(rate / ceiling, measurement, traffic.unit)

    def lack(self, measurement: Measurement, quantity: str, l2_bytes: int | None) -> str:
        """Say why a measurement has no rate or no share."""
        traffic = measurement.traffic or Traffic()
        if not (traffic.flops if "flop" in quantity else traffic.bytes_total):
            return f"its traffic model counts no {'operations' if 'flop' in quantity else 'bytes'}"
        if measurement.clock != "device":
            return "only times of the kernel clock have a share of a ceiling"
        if quantity == "share" and in_l2(measurement, l2_bytes):
            return "its working set is below four times the L2 cache, which serves part of it"
        return "this run has no such ceiling, or the L2 size is unknown"


def in_l2(measurement: Measurement, l2_bytes: int | None) -> bool:
    """Tell whether a working set is below four times the L2, so that the cache serves part of it."""
    if l2_bytes is None or measurement.traffic is None or not measurement.traffic.bytes_total:
        return False
    return measurement.traffic.bytes_total < 4 * l2_bytes


def _at_most_one(share: float, measurement: Measurement, what: str) -> float:
    if share > 1.02:
        raise ImplausibleError(
            f"{measurement.variant!r} at {measurement.size} would reach {share:.1%} of the {what} ceiling. "
            "Expected at most 102 %: check its traffic model, and measure the ceilings again."
        )
    # Slightly above 1, the ceiling itself was measured too low; nothing is shown above 100 %.
    return min(share, 1.0)
