"""gpuguide: GPU programming in Python, measured.

The public names are loaded when they are first used, so that ``import gpuguide`` needs neither a GPU nor
CuPy, Numba, SciPy or Matplotlib.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuguide.backends import numba_view
    from gpuguide.device import require_gpu
    from gpuguide.errors import GpuGuideError
    from gpuguide.plotting import (
        plot_decomposition,
        plot_heatmap,
        plot_samples,
        plot_share_of_ceiling,
        plot_speedup,
        plot_time,
    )
    from gpuguide.recordings import find as load
    from gpuguide.results import Fact, Measurement, Results, Traffic
    from gpuguide.session import ceilings, claim, fact
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
    "ceilings",
    "claim",
    "fact",
    "load",
    "numba_view",
    "plot_decomposition",
    "plot_heatmap",
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
    "ceilings": ("session", "ceilings"),
    "claim": ("session", "claim"),
    "fact": ("session", "fact"),
    "load": ("recordings", "find"),
    "numba_view": ("backends", "numba_view"),
    "plot_decomposition": ("plotting", "plot_decomposition"),
    "plot_heatmap": ("plotting", "plot_heatmap"),
    "plot_samples": ("plotting", "plot_samples"),
    "plot_share_of_ceiling": ("plotting", "plot_share_of_ceiling"),
    "plot_speedup": ("plotting", "plot_speedup"),
    "plot_time": ("plotting", "plot_time"),
    "require_gpu": ("device", "require_gpu"),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used (PEP 562)."""
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'gpuguide' has no attribute {name!r}") from None
    value = getattr(import_module(f"gpuguide.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """The package: its public names win over submodules of the same name.

    Importing the submodule ``gpuguide.ceilings`` would otherwise put it in the place of the function
    `gpuguide.ceilings`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
