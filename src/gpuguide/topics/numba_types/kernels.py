"""Kernels that differ in their types alone: of constants, of a loop counter, of a factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine.backends import cuda, jit


@jit
def python_floats_kernel(kept: Any, out: Any) -> None:
    """Each thread gives 128 doses; the constants are Python's floats."""
    i = cuda.grid(1)
    if i < out.size:
        level = 0.0
        for _ in range(128):
            level = (level + 2.5) * kept[i]
        out[i] = level


@jit
def rounded_steps_kernel(kept: Any, out: Any) -> None:
    """Each step is rounded to 32 bits; its constant is a Python float."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(128):
            level = np.float32((level + 2.5) * kept[i])
        out[i] = level


@jit
def one_left_kernel(kept: Any, out: Any) -> None:
    """Each dose has 32 bits; the level starts at Python's 0.0."""
    i = cuda.grid(1)
    if i < out.size:
        level = 0.0
        for _ in range(128):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@jit
def float32_only_kernel(kept: Any, out: Any) -> None:
    """Each constant has 32 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(128):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@jit
def range_int64_kernel(kept: Any, doses: int, out: Any) -> None:
    """Each thread gives as many doses as it is told; a Python int arrives as int64."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(doses):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@jit
def range_int32_kernel(kept: Any, doses: int, out: Any) -> None:
    """Each thread counts in the type of what range is given: 32 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        for _ in range(np.int32(doses)):
            level = (level + np.float32(2.5)) * kept[i]
        out[i] = level


@jit
def own_counter_kernel(kept: Any, doses: int, out: Any) -> None:
    """Each thread counts in a variable of its own, which has 64 bits."""
    i = cuda.grid(1)
    if i < out.size:
        level = np.float32(0.0)
        given = 0
        while given < doses:
            level = (level + np.float32(2.5)) * kept[i]
            given += 1
        out[i] = level


@jit
def scale_by_python_float_kernel(x: Any, out: Any) -> None:
    """Each thread multiplies its element by a Python float."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 2.1


@jit
def scale_by_float32_kernel(x: Any, out: Any) -> None:
    """Each thread multiplies its element by a float32."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * np.float32(2.1)
