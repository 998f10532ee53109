"""GPU programming in Python, measured.

The public names are loaded when they are first used, so that ``import gpuguide`` needs neither a GPU nor
CuPy, Numba, SciPy or Matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuguide.backends import numba_view
    from gpuguide.device import require_gpu
    from gpuguide.errors import GpuGuideError
    from gpuguide.plotting import (
        plot_decomposition,
        plot_heatmap,
        plot_rate,
        plot_samples,
        plot_share_of_ceiling,
        plot_speedup,
        plot_time,
    )
    from gpuguide.recordings import find as load
    from gpuguide.results import Fact, Measurement, Results, Traffic
    from gpuguide.session import machine_ceilings
    from gpuguide.study import Study, Variant

__version__ = "0.1.0"

__all__ = [
    "Fact",
    "GpuGuideError",
    "Measurement",
    "Results",
    "Study",
    "Traffic",
    "Variant",
    "claim",
    "explained",
    "fact",
    "load",
    "machine_ceilings",
    "numba_view",
    "plot_decomposition",
    "plot_heatmap",
    "plot_rate",
    "plot_samples",
    "plot_share_of_ceiling",
    "plot_speedup",
    "plot_time",
    "require_gpu",
]

# Public name -> (module, name there).
_HOMES = {
    "Fact": ("results", "Fact"),
    "GpuGuideError": ("errors", "GpuGuideError"),
    "Measurement": ("results", "Measurement"),
    "Results": ("results", "Results"),
    "Study": ("study", "Study"),
    "Traffic": ("results", "Traffic"),
    "Variant": ("study", "Variant"),
    "claim": ("statements", "claim"),
    "explained": ("statements", "explained"),
    "fact": ("statements", "fact"),
    "load": ("recordings", "find"),
    "machine_ceilings": ("session", "machine_ceilings"),
    "numba_view": ("backends", "numba_view"),
    "plot_decomposition": ("plotting", "plot_decomposition"),
    "plot_heatmap": ("plotting", "plot_heatmap"),
    "plot_rate": ("plotting", "plot_rate"),
    "plot_samples": ("plotting", "plot_samples"),
    "plot_share_of_ceiling": ("plotting", "plot_share_of_ceiling"),
    "plot_speedup": ("plotting", "plot_speedup"),
    "plot_time": ("plotting", "plot_time"),
    "require_gpu": ("device", "require_gpu"),
}
# Loaded when first used, too: `gpuguide.exercises.check(...)`.
_PACKAGES = ("exercises",)


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
