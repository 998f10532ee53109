"""A simulator of our own: runs a kernel's source thread by thread and sees everything it touches."""

from gpuguide.exercises.trace.drawing import draw_svg, draw_text
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.prepare import TracedKernel, prepare
from gpuguide.exercises.trace.scheduler import run
from gpuguide.exercises.trace.trace import Trace

__all__ = ["Finding", "Trace", "TracedKernel", "draw_svg", "draw_text", "prepare", "run"]
