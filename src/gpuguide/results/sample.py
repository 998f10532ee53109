"""Invented results for the examples in the reference: small, fixed, never measured and shown on no page."""

from __future__ import annotations

from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import CheckResult, Measurement, Traffic, VariantInfo
from gpuguide.results.results import Results

__all__ = ["sample_results"]

_SIZES = (2**10, 2**20, 2**26)
_NANOSECONDS = {"numpy": (1_000, 900_000, 70_000_000), "numba": (3_000, 6_000, 220_000)}


def sample_results() -> Results:
    """Make results of two variants at three sizes, to try charts and tables on without a GPU."""
    variants = (
        VariantInfo("numpy", "NumPy", "The sum by NumPy.", device="cpu", clock="host", threads=1),
        VariantInfo("numba", "Numba", "The sum by a kernel, one element per thread."),
    )
    return Results(
        name="sample",
        title="An invented study",
        size_name="elements",
        dtype="float32",
        input_note="invented",
        tolerance_note="exact",
        cache="warm",
        variants=variants,
        sizes=_SIZES,
        measurements=tuple(_cell(info, size) for info in variants for size in _SIZES),
        checks=tuple(CheckResult(info.name, size, "exact", 0.0, 0.0) for info in variants for size in _SIZES),
        ceilings=Ceilings((Ceiling("two_to_one", 4e12, "B/s", (1_000_000,), 4_000_000_000, "invented"),)),
        l2_bytes=50_000_000,
        warnings=(),
        quick=False,
    )


def _cell(info: VariantInfo, size: int) -> Measurement:
    """Five samples per round, one per cent apart, around an invented median."""
    median = _NANOSECONDS[info.name][_SIZES.index(size)]
    # Their median is the invented one, so that examples print round numbers.
    samples = tuple(round(median * factor) for factor in (0.98, 0.99, 1.0, 1.01, 1.02)) * 2
    return Measurement(
        info.name,
        size,
        info.clock,
        samples,
        tuple(index // 2 for index in range(10)),
        method="host" if info.device == "cpu" else "events",
        traffic=Traffic(bytes_read=8 * size, bytes_written=4 * size, flops=size),
    )
