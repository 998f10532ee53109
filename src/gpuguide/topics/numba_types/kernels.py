"""Kernels that differ in their types alone: of constants, of a loop counter, of a factor."""

import numpy as np
from numba import cuda


@cuda.jit
def python_floats_kernel(kept, out):
    """Each thread gives 128 doses; the constants are Python's floats."""
    i = cuda.grid(1)
    if i < out.size:
        level = 0.0
        for _ in range(128):
            level = (level + 2.5) * kept[i]
        out[i] = level


@cuda.jit
def rounded_steps_kernel(kept, out):
    """Each step is rounded to 32 bits; its constant is a Python float."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(128):
            level = np.float32((level + 2.5) * kept[i])
        out[i] = level


@cuda.jit
def one_left_kernel(kept, out):
    """Each dose has 32 bits; the level starts at Python's 0.0."""
    i = cuda.grid(1)
    if i < out.size:
        level = 0.0
        for _ in range(128):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@cuda.jit
def float32_only_kernel(kept, out):
    """Each constant has 32 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(128):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@cuda.jit
def range_int64_kernel(kept, doses, out):
    """Each thread gives as many doses as it is told; a Python int arrives as int64."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(doses):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@cuda.jit
def range_int32_kernel(kept, doses, out):
    """Each thread counts in the type of what range is given: 32 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(np.int32(doses)):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@cuda.jit
def own_counter_kernel(kept, doses, out):
    """Each thread counts in a variable of its own, which has 64 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        given = 0
        while given < doses:
            level = (level + np.float32(2.5)) * kept[i]
            given += 1
        out[i] = level


@cuda.jit
def scale_by_python_float_kernel(x, out):
    """Each thread multiplies its element by a Python float."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 2.1


@cuda.jit
def scale_by_float32_kernel(x, out):
    """Each thread multiplies its element by a float32."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * np.float32(2.1)
