"""A simulator of our own: runs a kernel's source thread by thread and sees everything it touches.

`prepare` takes source text apart, `run` launches it on NumPy arrays, `Trace` answers. Threads run one after
the other, always in the same order; what is wrong is worked out afterwards, from who touched what between
which barriers, so that no race hides behind a lucky order.

Numbers are those that Numba computes with, but for three things that only a compiler and a GPU show: integers
of 64 bits do not overflow before they are stored, the product of a float32 and an integer variable stays
float32, and a fused multiply-add is not used where nobody asks for it.
"""

from gpuguide.exercises.trace.drawing import draw_svg, draw_text
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.prepare import TracedKernel, prepare
from gpuguide.exercises.trace.scheduler import run
from gpuguide.exercises.trace.trace import Trace

__all__ = ["Finding", "Trace", "TracedKernel", "draw_svg", "draw_text", "prepare", "run"]
