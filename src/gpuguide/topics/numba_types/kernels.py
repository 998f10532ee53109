"""Kernels that differ in their types alone: of constants, of a loop's counter, of a factor."""

import numpy as np
from numba import cuda


@cuda.jit
def python_floats(kept, level):
    """Each thread gives a patient 128 doses; the constants are Python's floats."""
    i = cuda.grid(1)
    if i < level.size:
        x = 0.0
        for _ in range(128):
            x = (x + 2.5) * kept[i]
        level[i] = x


@cuda.jit
def rounded_steps(kept, level):
    """Each result is rounded to 32 bits; the constant beside it is a Python float."""
    i = cuda.grid(1)
    if i < level.size:
        x = np.float32(0.0)
        for _ in range(128):
            x = np.float32((x + 2.5) * kept[i])
        level[i] = x


@cuda.jit
def one_left(kept, level):
    """Each dose has 32 bits; the level starts at Python's 0.0."""
    i = cuda.grid(1)
    if i < level.size:
        x = 0.0
        for _ in range(128):
            x = (x + np.float32(2.5)) * kept[i]
        level[i] = x


@cuda.jit
def float32_only(kept, level):
    """Each constant has 32 bits."""
    i = cuda.grid(1)
    if i < level.size:
        x = np.float32(0.0)
        for _ in range(128):
            x = (x + np.float32(2.5)) * kept[i]
        level[i] = x


@cuda.jit
def range_int64(kept, doses, level):
    """Each thread gives as many doses as it is told; a Python int arrives as int64."""
    i = cuda.grid(1)
    if i < level.size:
        x = np.float32(0.0)
        for _ in range(doses):
            x = (x + np.float32(2.5)) * kept[i]
        level[i] = x


@cuda.jit
def range_int32(kept, doses, level):
    """Each thread counts in the type that range is given: 32 bits."""
    i = cuda.grid(1)
    if i < level.size:
        x = np.float32(0.0)
        for _ in range(np.int32(doses)):
            x = (x + np.float32(2.5)) * kept[i]
        level[i] = x


@cuda.jit
def own_counter(kept, doses, level):
    """Each thread counts in a variable of its own, which has 64 bits."""
    i = cuda.grid(1)
    if i < level.size:
        x = np.float32(0.0)
        given = 0
        while given < doses:
            x = (x + np.float32(2.5)) * kept[i]
            given += 1
        level[i] = x


@cuda.jit
def scale_python_float(x, out):
    """Each thread multiplies its element by a Python float."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 2.1


@cuda.jit
def scale_float32(x, out):
    """Each thread multiplies its element by a float32."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * np.float32(2.1)
