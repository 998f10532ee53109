"""Forgets one of the constants.

Found: float64.
"""

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = (fahrenheit[i] - float32(32)) * (5.0 / 9.0)
