"""Makes its constant with a type of Numba's under a short name."""

from numba import cuda, float32

f = float32
STEP = f(5 / 9)


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = STEP * (fahrenheit[i] - f(32))
