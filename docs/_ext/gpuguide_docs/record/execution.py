"""Running one code cell as a notebook would, and catching what it puts out as typed data."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gpuguide_docs.pages.cells import Cell

__all__ = ["CellError", "Output", "Picture", "catch_pictures", "plain_text", "run_cell"]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# What a reader of recordings refuses: see gpuguide.recordings.markup.check_text.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True)
class Picture:
    """A figure.

    Parameters
    ----------
    data : bytes
        The file, drawn in the light colours.
    suffix : str
        ``".svg"`` or ``".png"``.
    alt : str
        Alternative text.
    """

    data: bytes
    suffix: str
    alt: str


@dataclass(frozen=True)
class Output:
    """The outputs of one cell, in the order in which they are shown: pictures, text, HTML."""

    stdout: str = ""
    html: str = ""
    pictures: tuple[Picture, ...] = ()


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
    return Output(plain_text((printed.getvalue() + text).expandtabs()), html, (pictures or catch_pictures)())


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
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return ()
    from gpuguide.charts.style import alt_text, save_svg

    figures = [plt.figure(number) for number in plt.get_fignums()]
    try:
        return tuple(Picture(save_svg(figure), ".svg", alt_text(figure)) for figure in figures)
    finally:
        plt.close("all")


def plain_text(text: str) -> str:
    r"""Make captured output fit for a recording.

    Parameters
    ----------
    text : str
        What a cell wrote, possibly with colours and progress bars of a terminal.

    Returns
    -------
    str
        Without colours; of a line that was written over, what remained; with no character that
        `gpuguide.recordings.markup.check_text` refuses.

    Examples
    --------
    >>> plain_text("10 %\r100 %\r\ndone\x1b[0m")
    '100 %\ndone'
    """
    lines = _ANSI.sub("", text).split("\n")
    shown = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", shown)
