"""Puts an edited kernel in the place of the package's own: what a downloaded notebook does after each one."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from gpuguide.errors import unknown

__all__ = ["use_instead"]


def use_instead(module: str, **definitions: Any) -> None:
    """Let a topic use other functions from now on, wherever it or another topic refers to its own.

    Parameters
    ----------
    module : str
        Full name of a module of a topic, such as ``"gpuguide.topics.first_kernel.kernels"``.
    **definitions
        Name in the module -> what takes its place, such as a kernel that was edited.

    Raises
    ------
    UnknownNameError
        The module has no such name.

    Examples
    --------
    >>> from gpuguide.topics.first_kernel import study as first_kernel
    >>> own = first_kernel.increment_reference
    >>> use_instead("gpuguide.topics.first_kernel.study", increment_reference=lambda x: x + 2)
    >>> first_kernel.increment_reference(1)
    3
    >>> use_instead("gpuguide.topics.first_kernel.study", increment_reference=own)
    """
    home = vars(import_module(module))
    for name in definitions:
        if name not in home:
            raise unknown("function", name, [known for known in home if not known.startswith("__")])
    # One page's kernel is launched by other pages, too.
    inside = "gpuguide.topics."
    room = inside if module.startswith(inside) else f"{module.rpartition('.')[0]}."
    everywhere = [vars(other) for name, other in sys.modules.items() if name.startswith(room)]
    for name, new in definitions.items():
        old = home[name]
        for names in everywhere:
            _replace(names, old, new)
            for table in [value for value in names.values() if isinstance(value, dict)]:
                _replace(table, old, new)


def _replace(table: dict[Any, Any], old: Any, new: Any) -> None:
    for key in [key for key, value in table.items() if value is old]:
        table[key] = new
