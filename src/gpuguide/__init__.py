"""GPU programming in Python, measured.

The public names are loaded when they are first used, so that ``import gpuguide`` needs neither a GPU nor
CuPy, Numba, SciPy or Matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuguide.charts.lines import plot_rate, plot_share_of_ceiling, plot_speedup, plot_time
    from gpuguide.charts.shapes import plot_decomposition, plot_heatmap, plot_samples
    from gpuguide.comparison import compare
    from gpuguide.machine.device import require_gpu
    from gpuguide.measure.benchmark import benchmark
    from gpuguide.measure.plan import Variant
    from gpuguide.measure.session import keep, machine_ceilings
    from gpuguide.measure.study import Study
    from gpuguide.recordings.store import load
    from gpuguide.results.records import Traffic
    from gpuguide.results.results import Results
    from gpuguide.tracer.report import Trace
    from gpuguide.tracer.trace import trace
    from gpuguide.version import __version__ as __version__

__all__ = [
    "Results",
    "Study",
    "Trace",
    "Traffic",
    "Variant",
    "benchmark",
    "claim",
    "compare",
    "explained",
    "fact",
    "keep",
    "load",
    "machine_ceilings",
    "plot_decomposition",
    "plot_heatmap",
    "plot_rate",
    "plot_samples",
    "plot_share_of_ceiling",
    "plot_speedup",
    "plot_time",
    "require_gpu",
    "trace",
]

# Public name -> (module, name there).
_HOMES = {
    "__version__": ("version", "__version__"),
    "Results": ("results.results", "Results"),
    "Study": ("measure.study", "Study"),
    "Trace": ("tracer.report", "Trace"),
    "Traffic": ("results.records", "Traffic"),
    "Variant": ("measure.plan", "Variant"),
    "benchmark": ("measure.benchmark", "benchmark"),
    "claim": ("statements", "claim"),
    "compare": ("comparison", "compare"),
    "explained": ("statements", "explained"),
    "fact": ("measure.session", "fact"),
    "keep": ("measure.session", "keep"),
    "load": ("recordings.store", "load"),
    "machine_ceilings": ("measure.session", "machine_ceilings"),
    "plot_decomposition": ("charts.shapes", "plot_decomposition"),
    "plot_heatmap": ("charts.shapes", "plot_heatmap"),
    "plot_rate": ("charts.lines", "plot_rate"),
    "plot_samples": ("charts.shapes", "plot_samples"),
    "plot_share_of_ceiling": ("charts.lines", "plot_share_of_ceiling"),
    "plot_speedup": ("charts.lines", "plot_speedup"),
    "plot_time": ("charts.lines", "plot_time"),
    "require_gpu": ("machine.device", "require_gpu"),
    "trace": ("tracer.trace", "trace"),
}
# Loaded when first used, too: `gpuguide.exercises.check(...)`.
_PACKAGES = ("exercises", "tracer")


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used (PEP 562)."""
    if name in _PACKAGES:
        return import_module(f"gpuguide.{name}")
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'gpuguide' has no attribute {name!r}") from None
    value = getattr(import_module(f"gpuguide.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
