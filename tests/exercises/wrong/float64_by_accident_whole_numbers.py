"""Takes whole numbers, which have 64 bits as well.

Found: float64.
"""

from numba import cuda


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = (fahrenheit[i] - 32) * 5 / 9
