"""Running one code cell as a notebook would, and catching what it puts out as typed data."""

from __future__ import annotations

import ast
import contextlib
import io
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.replay.outputs import Output, Picture

__all__ = ["CellError", "catch_pictures", "run_cell"]

_EXPRESSION = "___"


class CellError(Exception):
    """A cell raised; the message names file, line and error, the cause is the error itself."""


def run_cell(
    cell: Cell,
    namespace: dict[str, Any],
    script: str,
    pictures: Callable[[], tuple[Picture, ...]] | None = None,
) -> Output:
    """Run a cell in a namespace.

    Parameters
    ----------
    cell : Cell
        Code; the value of a last expression is shown as in a notebook.
    namespace : dict
        Changed by the cell.
    script : str
        File that messages name.
    pictures : callable, optional
        What collects the figures; default: `catch_pictures`.

    Returns
    -------
    Output
        Text, HTML and figures.

    Raises
    ------
    CellError
        If the cell raises; names file and line.
    """
    printed = io.StringIO()
    try:
        tree = ast.parse("\n" * (cell.lineno - 1) + cell.content, script)
        with contextlib.redirect_stdout(printed):
            shown = _execute(tree, namespace, script)
    except Exception as error:
        raise CellError(f"{script}:{_line(error, script, cell.lineno)}: {_words(error)}") from error
    text, html = _shown(shown)
    return Output((printed.getvalue() + text).expandtabs(), html, (pictures or catch_pictures)())


def _execute(tree: ast.Module, namespace: dict[str, Any], script: str) -> object:
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if last is None:
        exec(compile(tree, script, "exec"), namespace)
        return None
    body = ast.Module(tree.body[:-1], [])
    exec(compile(body, script, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), script, "eval"), namespace)


def _shown(value: object) -> tuple[str, str]:
    if value is None or _is_drawing(value):
        return "", ""
    markup = getattr(value, "_repr_html_", None)
    html = markup() if callable(markup) and not isinstance(value, type) else None
    return ("", html) if isinstance(html, str) else (repr(value) + "\n", "")


def _is_drawing(value: object) -> bool:
    # What a plotting call returns is the figure itself; its repr would be noise under it.
    if type(value).__module__.split(".")[0] == "matplotlib":
        return True
    flat: Iterable[object] = ()
    if isinstance(value, list | tuple):
        flat = value
    elif type(value).__name__ == "ndarray" and str(getattr(value, "dtype", "")) == "object":
        flat = value.ravel()  # type: ignore[attr-defined]
    items = list(flat)
    return bool(items) and all(_is_drawing(item) for item in items)


def _line(error: BaseException, script: str, default: int) -> int:
    if isinstance(error, SyntaxError) and error.filename == script and error.lineno:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
    return next((line for line in reversed(lines) if line), default)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def catch_pictures() -> tuple[Picture, ...]:
    """Save Matplotlib's open figures, in order, and close them.

    Returns
    -------
    tuple of Picture
        Deterministic SVG with alternative text; empty when Matplotlib was not even imported.
    """
    import sys

    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return ()
    from gpuguide.charts.style import alt_text, save_svg

    figures = [plt.figure(number) for number in plt.get_fignums()]
    try:
        return tuple(Picture(save_svg(figure), ".svg", alt_text(figure)) for figure in figures)
    finally:
        plt.close("all")
