"""Makes its constant with a type under a short name."""

import numpy as np
from numba import cuda

f32 = np.float32
STEP = f32(5) / f32(9)


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = STEP * (fahrenheit[i] - f32(32))
