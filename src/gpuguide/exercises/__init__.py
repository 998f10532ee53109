"""Exercises that check themselves: a kernel is traced, compiled, and launched where there is a GPU."""

from __future__ import annotations

from gpuguide.exercises.pool import get, names

try:
    from gpuguide.exercises.check import check
    from gpuguide.exercises.notebook import skip_without_gpu
except ModuleNotFoundError as error:
    # Without NumPy, as in a browser, there is the simulator alone.
    if error.name != "numpy":
        raise

__all__ = ["check", "get", "names", "skip_without_gpu"]
