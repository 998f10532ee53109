"""Running one code cell as a notebook would."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import traceback
from typing import Any

from gpuguide_docs.pages.cells import Cell

__all__ = ["CellError", "refuse_figures", "run_cell", "value_text"]


class CellError(Exception):
    """A cell raised; the message names file, line and error, the cause is the error itself."""


def run_cell(cell: Cell, namespace: dict[str, Any], script: str) -> tuple[str, object]:
    """Run a cell in a namespace.

    Parameters
    ----------
    cell : Cell
        Code.
    namespace : dict
        Changed by the cell.
    script : str
        File that messages name.

    Returns
    -------
    str
        What it printed.
    object
        The value of its last expression, as a notebook would show it; None where there is none.

    Raises
    ------
    CellError
        If the cell raises; names file and line.
    """
    printed = io.StringIO()
    try:
        tree = ast.parse("\n" * (cell.lineno - 1) + cell.content, script)
        with contextlib.redirect_stdout(printed):
            value = _execute(tree, namespace, script)
    except Exception as error:
        raise CellError(f"{script}:{_line(error, script, cell.lineno)}: {_words(error)}") from error
    return printed.getvalue().expandtabs(), value


def refuse_figures(cell: Cell, script: str) -> None:
    """Raise CellError if a recorded cell leaves a Matplotlib figure open: figures are drawn, not recorded."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None and plt.get_fignums():
        plt.close("all")
        raise CellError(
            f"{script}:{cell.lineno}: this recorded cell leaves a figure open. Draw it in a cell of its own "
            "whose first line is '# draw'; it finds the results by their names, and all facts in `facts`."
        )


def value_text(value: object) -> str:
    """Write a cell's last value as a notebook without markup does; nothing for None."""
    return "" if value is None else f"{value!r}\n".expandtabs()


def _execute(tree: ast.Module, namespace: dict[str, Any], script: str) -> object:
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if last is None:
        exec(compile(tree, script, "exec"), namespace)
        return None
    body = ast.Module(tree.body[:-1], [])
    exec(compile(body, script, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), script, "eval"), namespace)


def _line(error: BaseException, script: str, default: int) -> int:
    if isinstance(error, SyntaxError) and error.filename == script and error.lineno:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
    return next((line for line in reversed(lines) if line), default)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
