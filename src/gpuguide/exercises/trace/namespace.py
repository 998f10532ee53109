"""The names that a traced kernel sees: its own functions, its imports as stand-ins, and its constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from gpuguide.exercises.trace.arrays import whole
from gpuguide.exercises.trace.faults import UnsupportedError
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.regions import Memory
from gpuguide.exercises.trace.rewrite import DIVIDE, DIVISOR, TRACER, TRUTH
from gpuguide.exercises.trace.runtime import Cuda
from gpuguide.exercises.trace.scalars import NUMBER_TYPES, as_scalar, divide, divisor
from gpuguide.exercises.trace.standins import BUILTINS, StandIn, modules

__all__ = ["USUAL_IMPORTS", "build"]

#: What a source without any import of its own may use, by full names.
USUAL_IMPORTS = {
    "cuda": "numba.cuda",
    "math": "math",
    "np": "numpy",
    "numpy": "numpy",
    "numba": "numba",
    "types": "numba.types",
    **{name: f"numba.{name}" for name in NUMBER_TYPES if name != "bool"},
}


def build(
    machine: Machine, cuda: Cuda, imports: Mapping[str, str], constants: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the global names of a kernel for one launch.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    cuda : Cuda
        Its stand-in for ``numba.cuda``.
    imports : mapping of str to str
        From names to what they were imported from, in full: ``"numpy.float32"``.
    constants : mapping of str to object
        Numbers, tuples, arrays, types and modules by name.

    Returns
    -------
    dict of str to object
        For `exec`.
    """
    known = modules(cuda)
    found: dict[str, Any] = {
        "__builtins__": BUILTINS,
        TRACER: machine,
        DIVIDE: divide,
        DIVISOR: divisor,
        TRUTH: bool,
    }
    found |= {name: _resolved(path, known) for name, path in imports.items()}
    return found | {name: _constant(machine, name, value, known) for name, value in constants.items()}


def _resolved(path: str, known: Mapping[str, Any]) -> Any:
    """Return the stand-in for what was imported; what there is none for complains when it is used."""
    if path in known:
        return known[path]
    module, _, name = path.rpartition(".")
    try:
        return getattr(known[module], name)
    except (KeyError, UnsupportedError, AttributeError):
        return StandIn(path, {})


def _constant(machine: Machine, name: str, value: Any, known: Mapping[str, Any]) -> Any:
    """Return a constant as the kernel sees it."""
    match value:
        case tuple():
            return tuple(_constant(machine, name, each, known) for each in value)
        case np.ndarray():
            region = machine.regions.made(name, "constant", value.shape, value.dtype, 0)
            return whole(machine, region, Memory(value.ravel()).cells, constant=True)
        case ModuleType():
            return _resolved(value.__name__, known)
        case type() if issubclass(value, np.generic):
            return NUMBER_TYPES.get(np.dtype(value).name, value)
    if type(value).__module__.startswith("numba"):
        return NUMBER_TYPES.get(str(value), value)
    return as_scalar(value)
