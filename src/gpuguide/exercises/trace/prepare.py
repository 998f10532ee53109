"""From a reader's source text to a kernel that can be traced: find it, rewrite it, compile it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, MappingProxyType

__all__ = ["TracedKernel", "prepare"]


@dataclass(frozen=True)
class TracedKernel:
    """A reader's kernel, rewritten and compiled; `run` launches it.

    Attributes
    ----------
    name : str
        The kernel's own name.
    parameters : tuple of str
        Its parameters' names, in order.
    source : str
        The reader's text, dedented; all line numbers count in it, from 1.
    """

    name: str
    parameters: tuple[str, ...]
    source: str
    code: CodeType = field(repr=False)
    constants: Mapping[str, object] = field(default_factory=dict, repr=False)


def prepare(source: str, name: str = "", constants: Mapping[str, object] = MappingProxyType({})) -> TracedKernel:
    """Find the kernel in a source text, rewrite it for tracing and compile it; nothing of it is run.

    Parameters
    ----------
    source : str
        One or more functions: the kernel and the device functions it calls. Imports and assignments of
        constants beside them are honoured if the functions use them; everything else at the top level
        (launches, prints) is left out. Decorators are dropped.
    name : str
        The kernel's name; by default the last function at the top level.
    constants : mapping of str to object
        What else the functions refer to: numbers, tuples, small arrays, Numba types, modules.

    Returns
    -------
    TracedKernel
        With `name`, `parameters` and `source`.

    Raises
    ------
    ArgumentError
        The source has a syntax error, holds no function or none of that name.
    """
    raise NotImplementedError
