"""The kernel that is timed: add one to each element."""

from __future__ import annotations

from typing import Any

from gpuguide.machine.backends import cuda, jit


@jit
def add_one_kernel(x: Any, out: Any) -> None:
    """Each thread takes one element."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0
