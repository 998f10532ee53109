"""Writes nothing where a temperature is missing.

Found: wrong.
"""

import math

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < celsius.size and not math.isnan(fahrenheit[i]):
        celsius[i] = (fahrenheit[i] - float32(32)) * float32(5 / 9)
