"""A folded part of a page: HTML's ``details``, without any script."""

from __future__ import annotations

from docutils import nodes
from sphinx_design.dropdown import dropdown_main, dropdown_title

__all__ = ["fold"]


def fold(summary: str, *content: nodes.Node, classes: tuple[str, ...] = ()) -> dropdown_main:
    """Put content under a line that is always shown, and that a click opens.

    These are the nodes that a ``dropdown`` of sphinx-design becomes in the end, without its card and icons.
    """
    return dropdown_main("", dropdown_title("", summary), *content, classes=["gg-fold", *classes])
