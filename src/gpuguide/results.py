"""What a study measured, as immutable data, and the questions that can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuguide.facts import ClaimResult, Fact, Provenance
from gpuguide.limits import Ceiling, Ceilings
from gpuguide.records import CheckResult, Measurement, Traffic, VariantInfo

__all__ = [
    "Ceiling",
    "Ceilings",
    "CheckResult",
    "ClaimResult",
    "Crossover",
    "Fact",
    "Measurement",
    "Provenance",
    "Quantity",
    "Results",
    "Traffic",
    "VariantInfo",
]


@dataclass(frozen=True)
class Quantity:
    """A value with its interval, in base units."""

    value: float
    low: float
    high: float
    unit: str
    n: int
    ratio_of: str = ""


@dataclass(frozen=True)
class Crossover:
    """The two measured sizes between which one variant overtakes another."""

    slower_at: int
    faster_at: int


@dataclass(frozen=True, repr=False)
class Results:
    """All that one run of a study measured and checked."""

    name: str
    title: str
    size_name: str
    dtype: str
    input_note: str
    tolerance_note: str
    cache: str
    variants: tuple[VariantInfo, ...]
    sizes: tuple[int, ...]
    measurements: tuple[Measurement, ...]
    checks: tuple[CheckResult, ...]
    ceilings: Ceilings | None
    l2_bytes: int | None
    warnings: tuple[str, ...]
    quick: bool
