"""Exercises that check themselves, without a GPU: kernels are traced, functions are watched."""

from __future__ import annotations

from gpuguide.drills.check import check
from gpuguide.drills.notebook import skip_without_gpu
from gpuguide.drills.pool import get, names

__all__ = ["check", "get", "names", "skip_without_gpu"]
