"""Takes a maximum, which makes a number of NaN.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        f = max(fahrenheit[i], float32(-459.67))
        celsius[i] = (f - float32(32)) * float32(5 / 9)
