"""Running one code cell as a notebook would."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import traceback
from typing import Any

from gpuguide_docs.pages.cells import Cell

__all__ = ["CellError", "plain_text", "refuse_figures", "run_cell", "value_text"]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Controls but newline and tab, line breaks that only some programs know, reordering marks, surrogates: a
# program that draws progress prints some of them, and none may leave the block that shows the text.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class CellError(Exception):
    """A cell raised; the message names file, line and error, the cause is the error itself."""


def run_cell(cell: Cell, namespace: dict[str, Any], script: str) -> tuple[str, object]:
    """Run a cell in a namespace."""
    printed = io.StringIO()
    try:
        # Empty lines in front, so that tracebacks count lines as the script does.
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
    # The innermost line of the page itself; frames further in are those of libraries.
    return next((line for line in reversed(lines) if line), default)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def plain_text(text: str) -> str:
    r"""Make captured output fit for a recording."""
    lines = _ANSI.sub("", text).split("\n")
    shown = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", shown)
