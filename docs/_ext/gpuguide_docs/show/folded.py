"""A folded part of a page: HTML's ``details``, without any script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["fold", "folded_node", "setup"]


class folded_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Content under a line (attribute ``summary``) that a click opens."""


def fold(summary: str, *content: nodes.Node, classes: tuple[str, ...] = ()) -> folded_node:
    """Make a folded part.

    Parameters
    ----------
    summary : str
        The line that is always shown.
    *content : docutils.nodes.Node
        What is under it.
    classes : tuple of str
        Class names besides ``gg-fold``.

    Returns
    -------
    folded_node
        For a document.
    """
    return folded_node("", *content, summary=summary, classes=["gg-fold", *classes])


def _visit_html(writer: Any, node: folded_node) -> None:
    writer.body.append(writer.starttag(node, "details"))
    writer.body.append(f"<summary>{writer.encode(node['summary'])}</summary>\n")


def _depart_html(writer: Any, _node: folded_node) -> None:
    writer.body.append("</details>\n")


def _pass(_writer: Any, _node: nodes.Node) -> None:
    """Other formats show the content unfolded."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the node; other modules of this package ask for it, so it is an extension by itself."""
    plain = (_pass, _pass)
    app.add_node(
        folded_node, html=(_visit_html, _depart_html), latex=plain, text=plain, man=plain, texinfo=plain
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
