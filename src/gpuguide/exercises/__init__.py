"""Exercises that check themselves, without a GPU: kernels are traced, functions are watched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuguide.exercises.checking import check
    from gpuguide.exercises.notebook import skip_without_gpu
    from gpuguide.exercises.pool import get, names

__all__ = ["check", "get", "names", "skip_without_gpu"]

_HOMES = {"check": "checking", "get": "pool", "names": "pool", "skip_without_gpu": "notebook"}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the command's help needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
