"""Takes what is colder than possible for the coldest there is, and so a missing value as well.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        degrees = (fahrenheit[i] - float32(32)) * float32(5 / 9)
        celsius[i] = degrees if degrees > float32(-273.15) else float32(-273.15)
