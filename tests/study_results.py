"""Invented results that several tests ask questions of."""

from dataclasses import replace
from typing import Any

from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Measurement, Traffic, VariantInfo
from gpuguide.results.results import Results

L2 = 50_000_000
SIZES = (2**10, 2**20, 2**26)
CEILINGS = Ceilings(
    (
        Ceiling("write", 3.0e12, "B/s"),
        Ceiling("copy", 4.0e12, "B/s"),
        Ceiling("read", 4.5e12, "B/s"),
        Ceiling("fp32", 5.0e13, "FLOP/s"),
    )
)
VARIANTS = (
    VariantInfo("numpy", "NumPy", device="cpu", clock="host", threads=1),
    VariantInfo("one", "One a thread"),
    VariantInfo("four", "Four a thread"),
)


def cell(variant: str, size: int, ns: int, **changes: Any) -> Measurement:
    """Six samples in three rounds, one per cent around a median of ``ns``."""
    defaults: dict[str, Any] = {
        "clock": "host" if variant == "numpy" else "device",
        "samples_ns": tuple(round(ns * factor) for factor in (1.0, 1.01, 0.99, 1.0, 0.99, 1.01)),
        "rounds": (0, 0, 1, 1, 2, 2),
        "traffic": Traffic(bytes_read=4 * size, bytes_written=4 * size, flops=size),
    }
    return Measurement(variant, size, **(defaults | changes))


def missing(variant: str, size: int, reason: str) -> Measurement:
    return Measurement(variant, size, "host" if variant == "numpy" else "device", reason=reason)


def make(**changes: Any) -> Results:
    """NumPy is overtaken by `one` between 2^10 and 2^20; the largest size is too long for it."""
    defaults: dict[str, Any] = {
        "name": "add",
        "title": "Add one",
        "size_name": "elements",
        "dtype": "float32",
        "variants": VARIANTS,
        "sizes": SIZES,
        "measurements": (
            cell("numpy", SIZES[0], 2_000),
            cell("numpy", SIZES[1], 800_000),
            missing("numpy", SIZES[2], "skipped: the previous size predicts 3 s"),
            cell("one", SIZES[0], 3_000),
            cell("one", SIZES[1], 8_000),
            cell("one", SIZES[2], 200_000),
            cell("four", SIZES[0], 3_000),
            cell("four", SIZES[1], 4_000),
            cell("four", SIZES[2], 160_000),
            cell("four", SIZES[2], 5_000, clock="launch", method="host"),
        ),
        "ceilings": CEILINGS,
        "l2_bytes": L2,
    }
    return Results(**(defaults | changes))


def on_starts(results: Results, *factors: float) -> Results:
    """The same study on as many machine starts, each as much slower; the last is the newest run."""
    runs = [
        replace(
            results,
            start=f"start {number}",
            measurements=tuple(
                replace(each, samples_ns=tuple(round(factor * ns) for ns in each.samples_ns))
                for each in results.measurements
            ),
        )
        for number, factor in enumerate(factors)
    ]
    return replace(runs[-1], others=tuple(runs[:-1]))
