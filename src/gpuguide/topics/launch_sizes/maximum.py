"""The larger of two numbers, element by element: inputs and right answers, on the GPU and on the CPU."""

import numpy as np

from gpuguide.machine.backends import array_module
from gpuguide.measure import uniform, whole_numbers

INPUT_NOTE = "uniform random numbers, three in a thousand places with NaN; whole numbers for the exact check"


def maximum_inputs(n, dtype, rng, exact):
    """Make two vectors with NaN in the first, in the second and in both."""
    pair = tuple(
        whole_numbers(rng, n, 1001, dtype, low=-1000) if exact else uniform(rng, n, dtype)
        for _ in range(2)
    )
    for x, place in zip(pair, (5, 6), strict=True):
        x[place::1000] = np.nan
        x[7::1000] = np.nan
    return pair


def maximum_reference(a, b):
    """Choose the larger of each pair by comparisons alone; not a number (NaN) wins."""
    xp = array_module(a)
    return xp.where((a > b) | xp.isnan(a), a, b)
