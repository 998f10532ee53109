"""Markdown of exercises as document nodes: paragraphs, lists, code, emphasis and links, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from gpuguide.errors import ArgumentError

__all__ = ["markdown_nodes"]

_ALLOWED = "paragraphs, lists, code, emphasis and links"


def markdown_nodes(text: str, where: str) -> list[nodes.Node]:
    """Turn a statement or a hint into nodes."""
    tree = SyntaxTreeNode(MarkdownIt("commonmark").parse(text))
    try:
        return _blocks(tree.children)
    except _NotAllowedError as error:
        line = f", line {error.line}" if error.line else ""
        raise ArgumentError(f"{where}{line}: {error} is not allowed there; allowed are {_ALLOWED}.") from None


class _NotAllowedError(ValueError):
    """A construct outside of the subset."""

    def __init__(self, node: SyntaxTreeNode, what: str = "") -> None:
        super().__init__(what or node.type.replace("_", " "))
        # Words within a line know no line of their own.
        while node.map is None and node.parent is not None:
            node = node.parent
        self.line = node.map[0] + 1 if node.map else 0


def _blocks(children: Iterable[SyntaxTreeNode]) -> list[nodes.Node]:
    return [_block(child) for child in children]


def _block(node: SyntaxTreeNode) -> nodes.Node:
    match node.type:
        case "paragraph":
            return nodes.paragraph("", "", *_spans(node.children))
        case "bullet_list":
            return nodes.bullet_list("", *_blocks(node.children), bullet="*")
        case "ordered_list":
            return nodes.enumerated_list("", *_blocks(node.children), enumtype="arabic", suffix=".")
        case "list_item":
            return nodes.list_item("", *_blocks(node.children))
        case "fence":
            code = node.content.rstrip("\n")
            return nodes.literal_block(code, code, language=node.info.strip() or "text")
    raise _NotAllowedError(node)


def _spans(children: Iterable[SyntaxTreeNode]) -> list[nodes.Node]:
    return [span for child in children for span in _span(child)]


def _span(node: SyntaxTreeNode) -> list[nodes.Node]:
    match node.type:
        case "inline":
            return _spans(node.children)
        case "text":
            return [nodes.Text(node.content)]
        case "softbreak":
            return [nodes.Text("\n")]
        case "code_inline":
            return [nodes.literal("", node.content)]
        case "em" | "strong":
            marked = nodes.emphasis if node.type == "em" else nodes.strong
            return [marked("", "", *_spans(node.children))]
        case "link":
            return [_link(node)]
    raise _NotAllowedError(node)


def _link(node: SyntaxTreeNode) -> nodes.Node:
    address = str(node.attrs["href"])
    if not address.startswith("https://"):
        # Exercises are part of the package, without the site's pages.
        raise _NotAllowedError(node, f"a link to {address!r}, which is no https address,")
    return nodes.reference("", "", *_spans(node.children), refuri=address)
