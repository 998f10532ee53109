"""Cells as a Jupyter notebook and as a script with ``# %%`` cells; the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from gpuguide_docs.downloads.markdown import Piece

__all__ = ["notebook_text", "script_text"]


def notebook_text(cells: Iterable[Piece], name: str) -> str:
    """Write a notebook.

    Parameters
    ----------
    cells : iterable of Piece
        In order.
    name : str
        Name of the page, from which the cells' identifiers are made.

    Returns
    -------
    str
        JSON of a valid notebook, format 4.5, without outputs.
    """
    notebook = {
        "cells": [_notebook_cell(cell, f"{name} {number}") for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(cell: Piece, place: str) -> dict[str, Any]:
    common = {
        "cell_type": cell.kind,
        "id": hashlib.sha256(place.encode()).hexdigest()[:12],
        "metadata": {"jupyter": {"source_hidden": True}} if cell.hidden else {},
        "source": cell.text.splitlines(keepends=True),
    }
    return {**common, "execution_count": None, "outputs": []} if cell.kind == "code" else common


def script_text(cells: Iterable[Piece]) -> str:
    """Write a script.

    Parameters
    ----------
    cells : iterable of Piece
        In order.

    Returns
    -------
    str
        Python with text in comments; the figures are shown at the end.
    """
    parts = [_script_cell(cell) for cell in cells]
    return "\n\n".join([*parts, "# %%\nplt.show()"]) + "\n"


def _script_cell(cell: Piece) -> str:
    if cell.kind == "code":
        return f"# %%\n{cell.script or cell.text}"
    lines = [f"# {line}".rstrip() for line in cell.text.splitlines()]
    return "\n".join(["# %% [markdown]", *lines])
