"""Cells as a Jupyter notebook and as a script with ``# %%`` cells; the same input gives the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Piece", "joined", "notebook_text", "script_text"]

_PLOTS = "import matplotlib.pyplot as plt"


@dataclass(frozen=True)
class Piece:
    """One cell; `script` is what stands in a script instead."""

    kind: Literal["markdown", "code"]
    text: str
    script: str = ""


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join stretches of text, and leave out what is empty."""
    cells: list[Piece] = []
    for piece in pieces:
        if piece.kind == "markdown" and cells and cells[-1].kind == "markdown" and piece.text.strip():
            cells[-1] = Piece("markdown", f"{cells[-1].text}\n\n{piece.text}")
        elif piece.text.strip():
            cells.append(piece)
    return cells


def notebook_text(cells: Iterable[Piece], name: str, *, gpu: bool = False) -> str:
    """Write a notebook; one that wants a GPU gets one on Colab."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    new: dict[str, Callable[..., Any]] = {"code": new_code_cell, "markdown": new_markdown_cell}
    # nbformat would draw identifiers at random.
    names = (hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:12] for number, _ in enumerate(cells))
    notebook = new_notebook(
        cells=[new[cell.kind](cell.text, id=id_) for cell, id_ in zip(cells, names, strict=True)],
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            **({"accelerator": "GPU"} if gpu else {}),
        },
        # The first format in which cells have identifiers.
        nbformat_minor=5,
    )
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n"


def script_text(cells: Iterable[Piece]) -> str:
    """Write a script."""
    parts = []
    for cell in cells:
        comment = "\n".join(f"# {line}".rstrip() for line in cell.text.splitlines())
        parts.append(
            f"# %%\n{cell.script or cell.text}" if cell.kind == "code" else f"# %% [markdown]\n{comment}"
        )
    if any(_PLOTS in part for part in parts):
        parts.append("# %%\nplt.show()")
    return "\n\n".join(parts) + "\n"
