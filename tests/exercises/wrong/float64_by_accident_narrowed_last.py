"""Narrows the result, after all has been worked out in 64 bits.

Found: float64.
"""

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = float32((fahrenheit[i] - 32.0) * 5.0 / 9.0)
