"""Which thread touched what, around a finding: as text for a terminal."""

from __future__ import annotations

from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.trace import Trace

__all__ = ["draw_svg", "draw_text"]


def draw_text(trace: Trace, finding: Finding, width: int = 78) -> str:
    """Draw the threads and elements around a finding; empty where there is nothing to draw."""
    raise NotImplementedError


def draw_svg(trace: Trace, finding: Finding) -> str:
    """Draw the same as SVG that follows a light or dark page; empty where there is nothing to draw."""
    raise NotImplementedError
