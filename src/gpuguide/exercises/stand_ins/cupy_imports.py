"""What an answer imports of CuPy by itself: while it is judged on a stand-in, it gets that."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from gpuguide.exercises.stand_ins.cupy_names import VALUES

__all__ = ["importable", "stand_in", "standing_in"]

_MODULES = ("", ".cuda", ".cuda.runtime", ".cuda.stream", ".lib", ".lib.stride_tricks", ".linalg")


class _Judging:
    """What goes on: the names that a judged function knows, its stand-in, and what to undo."""

    known: dict[str, Any] | None = None
    cupy: Any = None
    undo: tuple[Callable[[], None], ...] = ()


_now = _Judging()


class _Module(ModuleType):
    """A module of CuPy that can be imported where CuPy is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _found(f"{self.__name__}.{name}")


class _Later:
    """Something of CuPy that was imported, or given another name, before there was a stand-in."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _found(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _now.cupy is None and self._name == "cupy.get_array_module":
            return np  # there are no arrays of another one
        return _used(self._name)(*args, **kwargs)

    def __or__(self, other: object) -> _Later:
        """Be one of two types in an annotation."""
        return self

    __ror__ = __or__

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, _used(self._name))


def _found(name: str) -> Any:
    """Return what a stand-in has under a name of CuPy's; without a stand-in, what will find it later."""
    last = name.rpartition(".")[2]
    if last.startswith("__"):
        raise AttributeError(last)
    # What is not there while a function is judged will not be there later.
    if _now.cupy is not None or (_now.known is not None and name != "cupy.get_array_module"):
        return _used(name)
    return getattr(np, last) if name == f"cupy.{last}" and last in VALUES else _Later(name)


def _used(name: str) -> Any:
    if _now.cupy is None:
        raise ModuleNotFoundError(
            f"{name} cannot be had, because CuPy is not installed here. Do without it: the function gets all "
            "it needs as arguments"
        )
    part = _now.cupy
    for each in name.split(".")[1:]:
        part = getattr(part, each)
    return part


@contextmanager
def importable() -> Iterator[None]:
    """Let an answer import CuPy where it is not installed: in a notebook it stands above the function."""
    if find_spec("cupy") is not None:
        yield
        return
    undo = _replaced(sys.modules, _modules())
    try:
        yield
    finally:
        undo()


@contextmanager
def standing_in(function: Callable[..., Any]) -> Iterator[None]:
    """Let a function find a stand-in where it looks for CuPy, from the moment that one is made.

    >>> from types import SimpleNamespace
    >>> def function():
    ...     import cupy as cp
    ...
    ...     return cp.two()
    >>> with standing_in(function):
    ...     stand_in(SimpleNamespace(two=lambda: 2))
    ...     function()
    2
    """
    _now.known = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        yield
    finally:
        for undo in _now.undo:
            undo()
        _now.known, _now.cupy, _now.undo = None, None, ()


def stand_in(cupy: Any) -> None:
    """Tell the function that is judged, if any, what it finds in the place of CuPy from now on."""
    if _now.known is None:
        return
    if _now.cupy is None:
        # The CuPy that was imported before, if it is installed, would work on a real GPU.
        named = {name: _name_of(each) for name, each in _now.known.items()}
        real = {name: _Later(each) for name, each in named.items() if each}
        _now.undo = _replaced(sys.modules, _modules()), _replaced(_now.known, real)
    _now.cupy = cupy


def _name_of(value: Any) -> str:
    """Return the full name of something of CuPy's; empty for anything else."""
    is_module = isinstance(value, ModuleType)
    home = value.__name__ if is_module else getattr(value, "__module__", None)
    if not isinstance(home, str) or home.partition(".")[0] != "cupy" or isinstance(value, _Module):
        return ""
    if is_module:
        return home
    # A class or function is known by the module that shows it, and not by the one inside where it is made.
    shown = "cupy.cuda" if home.startswith("cupy.cuda.") else home.partition("._")[0]
    name = getattr(value, "__name__", "")  # an array has none
    return f"{shown}.{name}" if name else ""


def _modules() -> dict[str, ModuleType]:
    return {f"cupy{each}": _Module(f"cupy{each}") for each in _MODULES}


def _replaced(names: dict[str, Any], others: dict[str, Any]) -> Callable[[], None]:
    """Put other values under some names; return what undoes it."""
    before = {name: names[name] for name in others if name in names}
    names.update(others)

    def undo() -> None:
        for name in others:
            names.pop(name, None)
        names.update(before)

    return undo
