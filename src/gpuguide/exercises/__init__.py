"""Exercises that check themselves: a kernel is traced, compiled, and launched where there is a GPU."""

from __future__ import annotations

from gpuguide.exercises.check import check
from gpuguide.exercises.pool import get, names

__all__ = ["check", "get", "names"]
