"""Takes a minimum, which makes a number of NaN.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        f = min(fahrenheit[i], float32(1e9))
        celsius[i] = (f - float32(32)) * float32(5 / 9)
