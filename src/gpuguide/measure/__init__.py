"""Everything that can change a number: studies, the gate, clocks, rounds, ceilings.

A topic takes what it needs from here: ``from gpuguide.measure import Study, cp, cpu, kernel, per_element``.
"""

from gpuguide.machine.backends import cp
from gpuguide.measure.plan import cpu, end_to_end, gpu, kernel, per_element
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study

__all__ = [
    "Study",
    "cp",
    "cpu",
    "end_to_end",
    "gpu",
    "kernel",
    "per_element",
    "uniform",
    "whole_numbers",
]
