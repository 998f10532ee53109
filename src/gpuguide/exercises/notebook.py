"""Lets a notebook run from top to bottom without a GPU: its exercise runs, and the rest is skipped."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from gpuguide.exercises.pool import get

__all__ = ["skip_without_gpu"]

# Decorators that compile only when the function is called.
_LAZY = {"cuda.jit", "cuda.jit(device=True)", "njit"}


def skip_without_gpu(*exercises: str) -> None:
    """Where there is no GPU, say so once, and skip the cells of this notebook that need one.

    What is left runs as it stands: the cells that define or check the function of an exercise, and those that
    only import and define. In a script there are no cells to skip, so it ends here.

    >>> from gpuguide.exercises import skip_without_gpu
    >>> skip_without_gpu("guard")  # doctest: +SKIP
    This computer has no NVIDIA GPU, or no driver for it. Cells that need one are skipped.
    The exercise needs none: change and check maximum_kernel.
    """
    functions = [get(name).function_name for name in exercises]
    reason = _why_no_gpu()
    if not reason:
        return
    shell = _shell()
    if shell is None:
        hints = [f"The exercise needs none: gpuguide exercises start {name}" for name in exercises]
        raise SystemExit("\n".join([reason, *hints]))
    print(f"{reason} Cells that need one are skipped.")
    if functions:
        print(f"The exercise needs none: change and check {' and '.join(functions)}.")
    transformers = shell.input_transformers_cleanup
    # The cell may be run twice.
    transformers[:] = [each for each in transformers if not isinstance(each, _Skip)]
    transformers.append(_Skip(functions))


def _why_no_gpu() -> str:
    """Say why there is no GPU; empty if there is one."""
    from gpuguide.errors import NoGpuError
    from gpuguide.machine.backends import nvml
    from gpuguide.machine.device import require_gpu

    try:
        require_gpu()
    except NoGpuError as error:
        # Without a GPU, it does not help to explain how to install CuPy.
        return str(error) if nvml() else "This computer has no NVIDIA GPU, or no driver for it."
    return ""


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython and ipython.get_ipython()


class _Skip:
    """An input transformer of IPython's: it leaves nothing of a cell that needs a GPU."""

    def __init__(self, functions: Sequence[str]) -> None:
        self._functions = set(functions)

    def __call__(self, lines: list[str]) -> list[str]:
        text = "".join(lines)
        try:
            tree = ast.parse(text)
        except SyntaxError:  # a magic, or a slip that Python shall tell
            return lines
        # What a reader adds to find a mistake uses one of the functions, too.
        is_of_exercise = "gpuguide.exercises" in text or self._functions & _functions_used(tree)
        return lines if is_of_exercise or all(map(_defines, tree.body)) else []


def _functions_used(tree: ast.Module) -> set[str]:
    """Return what a cell defines, and the names that it reads from other cells.

    A page's own cell may have a variable of the same name, such as ``start``: it is not the exercise's.
    """
    walked = list(ast.walk(tree))
    names = [node for node in walked if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {(node.asname or node.name) for node in walked if isinstance(node, ast.alias)}
    defined = {node.name for node in walked if isinstance(node, ast.FunctionDef)}
    return defined | {node.id for node in names} - own


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return all(ast.unparse(each) in _LAZY for each in statement.decorator_list)
    if isinstance(statement, ast.Import):
        return all(_is_here(each.name) for each in statement.names)
    return isinstance(statement, ast.ImportFrom) and _is_here(statement.module or "")


def _is_here(module: str) -> bool:
    # A module of this package may need a library that is missing, such as Triton.
    try:
        import_module(module)
    except ModuleNotFoundError:
        return False
    return True
