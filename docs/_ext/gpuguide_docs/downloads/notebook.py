"""Cells as a Jupyter notebook and as a script with ``# %%`` cells; the same input gives the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from gpuguide_docs.downloads.markdown import Piece

__all__ = ["notebook_text", "script_text"]

_PLOTS = "import matplotlib.pyplot as plt"


def notebook_text(cells: Iterable[Piece], name: str) -> str:
    """Write a notebook."""
    # Scripts are also written where no site is built, and nbformat is not installed.
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    new: dict[str, Callable[..., Any]] = {"code": new_code_cell, "markdown": new_markdown_cell}
    notebook = new_notebook(
        cells=[
            new[cell.kind](
                cell.text,
                # nbformat would draw it at random.
                id=hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:12],
                metadata={"jupyter": {"source_hidden": True}} if cell.hidden else {},
            )
            for number, cell in enumerate(cells)
        ],
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        # The first format in which cells have identifiers.
        nbformat_minor=5,
    )
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n"


def script_text(cells: Iterable[Piece]) -> str:
    """Write a script."""
    cells = list(cells)
    parts = [_script_cell(cell) for cell in cells]
    if any(cell.kind == "code" and _PLOTS in cell.text for cell in cells):
        parts.append("# %%\nplt.show()")
    return "\n\n".join(parts) + "\n"


def _script_cell(cell: Piece) -> str:
    if cell.kind == "code":
        return f"# %%\n{cell.script or cell.text}"
    lines = [f"# {line}".rstrip() for line in cell.text.splitlines()]
    return "\n".join(["# %% [markdown]", *lines])
