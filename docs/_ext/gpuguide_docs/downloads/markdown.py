"""Markdown from docutils nodes: what stands in the text cells of a downloaded notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from docutils import nodes
from sphinx import addnodes

__all__ = ["ExportError", "Piece", "code_node", "escape", "markdown_node", "pieces", "ready_node"]

# An underscore inside a word is no markup.
_SPECIAL = re.compile(r"[\\`*<$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_SKIPPED = (
    nodes.comment,
    nodes.docinfo,
    nodes.target,
    nodes.substitution_definition,
    nodes.system_message,
    nodes.raw,
    addnodes.index,
    addnodes.tabular_col_spec,
)
_OPEN = (nodes.container, nodes.topic, nodes.compound, nodes.figure)


class ExportError(ValueError):
    """A page holds something that has no place in a download."""


class markdown_node(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """Inline text that is Markdown already."""


class code_node(nodes.General, nodes.Element):  # noqa: N801
    """A code cell (attribute ``code``)."""


class ready_node(nodes.General, nodes.Element):  # noqa: N801
    """Cells that are made already (attribute ``pieces``)."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a page that becomes one cell."""

    kind: Literal["markdown", "code"]
    text: str
    apart: bool = False
    hidden: bool = False
    script: str = ""


def pieces(node: nodes.Element, level: int = 1) -> list[Piece]:
    """Turn a page, or a part of one, into cells."""
    joined: list[Piece] = []
    for piece in _flow(node.children, level):
        if not piece.text.strip():
            continue
        if joined and _is_open_text(piece) and _is_open_text(joined[-1]):
            joined[-1] = Piece("markdown", f"{joined[-1].text}\n\n{piece.text}")
        else:
            joined.append(piece)
    return joined


def _is_open_text(piece: Piece) -> bool:
    return piece.kind == "markdown" and not piece.apart


def escape(text: str) -> str:
    r"""Keep Markdown from reading text as markup."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _flow(children: Iterable[nodes.Node], level: int) -> Iterator[Piece]:
    for node in children:
        if isinstance(node, code_node):
            yield Piece("code", node["code"])
        elif isinstance(node, ready_node):
            yield from node["pieces"]
        elif isinstance(node, nodes.section):
            yield from _flow(node.children, level + 1)
        elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
            yield Piece("markdown", f"{'#' * (level - 1)} {_inline(node)}")
        elif isinstance(node, nodes.container) and "fold" in node["classes"]:
            yield from _fold(node, level)
        elif isinstance(node, _OPEN):
            yield from _flow(node.children, level)
        elif not isinstance(node, _SKIPPED):
            yield Piece("markdown", _block(node))


def _fold(node: nodes.container, level: int) -> Iterator[Piece]:
    summary = f"<summary>{escape(node['summary'])}</summary>"
    for piece in pieces(node, level):
        # A code cell inside stays a cell that can be run; the text around it is folded.
        folded = f"<details>{summary}\n\n{piece.text}\n\n</details>"
        yield piece if piece.kind == "code" else Piece("markdown", folded)


@singledispatch
def _block(node: nodes.Node) -> str:
    raise ExportError(f"{type(node).__name__} has no form in Markdown: {node.astext()[:60]!r}")


@_block.register(nodes.paragraph)
@_block.register(nodes.caption)
@_block.register(nodes.line)
def _paragraph(node: nodes.Element) -> str:
    return _inline(node)


@_block.register(nodes.title)
@_block.register(nodes.rubric)
def _bold(node: nodes.Element) -> str:
    return f"**{_inline(node)}**"


@_block.register
def _bullets(node: nodes.bullet_list) -> str:
    return "\n".join(_item("- ", item) for item in node.findall(nodes.list_item) if item.parent is node)


@_block.register
def _numbers(node: nodes.enumerated_list) -> str:
    items = [item for item in node.findall(nodes.list_item) if item.parent is node]
    return "\n".join(_item(f"{number}. ", item) for number, item in enumerate(items, start=1))


def _item(mark: str, item: nodes.list_item) -> str:
    return mark + _text(item).replace("\n", "\n" + " " * len(mark))


@_block.register(nodes.literal_block)
@_block.register(nodes.doctest_block)
def _code(node: nodes.Element) -> str:
    language = node.get("language", "")
    return f"```{'' if language == 'none' else language}\n{node.astext()}\n```"


@_block.register
def _display_math(node: nodes.math_block) -> str:
    return f"$$\n{node.astext()}\n$$"


@_block.register(nodes.block_quote)
@_block.register(nodes.line_block)
@_block.register(nodes.admonition)
def _quote(node: nodes.Element) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _text(node).splitlines())


@_block.register(nodes.note)
@_block.register(nodes.tip)
@_block.register(nodes.hint)
@_block.register(nodes.important)
@_block.register(nodes.warning)
@_block.register(nodes.caution)
@_block.register(nodes.attention)
@_block.register(nodes.danger)
@_block.register(nodes.error)
def _named_quote(node: nodes.Element) -> str:
    return f"> **{type(node).__name__.title()}**\n>\n{_quote(node)}"


@_block.register(nodes.definition_list)
@_block.register(nodes.field_list)
def _definitions(node: nodes.Element) -> str:
    pairs = [
        (item.children[0], item.children[-1]) for item in node.children if isinstance(item, nodes.Element)
    ]
    return "\n\n".join(f"**{_span(name)}**: {_span_or_text(body)}" for name, body in pairs)


def _span_or_text(node: nodes.Node) -> str:
    return _text(node) if isinstance(node, nodes.Element) else escape(node.astext())


@_block.register
def _table(node: nodes.table) -> str:
    rows = [
        [_text(entry).replace("\n", " ").replace("|", "\\|") for entry in row.findall(nodes.entry)]
        for row in node.findall(nodes.row)
    ]
    title = "".join(f"*{_inline(title)}*\n\n" for title in node.findall(nodes.title))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return title + "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


@_block.register
def _picture(node: nodes.image) -> str:
    return f"*Picture: {escape(node.get('alt', ''))}*"


@_block.register
def _rule(_node: nodes.transition) -> str:
    return "---"


def _text(node: nodes.Element) -> str:
    """Write the blocks inside a node; code cells in there are shown, not run."""
    shown = [
        f"```python\n{piece.text}\n```" if piece.kind == "code" else piece.text for piece in pieces(node, 2)
    ]
    return "\n\n".join(shown)


def _inline(node: nodes.Element) -> str:
    return "".join(_span(child) for child in node.children)


@singledispatch
def _span(node: nodes.Node) -> str:
    return _inline(node) if isinstance(node, nodes.Element) else escape(node.astext())


@_span.register
def _plain(node: nodes.Text) -> str:
    return escape(node.astext()).replace("\n", " ")


@_span.register
def _ready(node: markdown_node) -> str:
    return node.astext()


@_span.register
def _literal(node: nodes.literal) -> str:
    ticks = "``" if "`" in node.astext() else "`"
    return f"{ticks}{node.astext()}{ticks}"


@_span.register
def _math(node: nodes.math) -> str:
    return f"${node.astext()}$"


@_span.register
def _link(node: nodes.reference) -> str:
    return f"[{_inline(node)}]({node['refuri']})" if node.get("refuri") else _inline(node)


@_span.register
def _lowered(node: nodes.subscript) -> str:
    return f"<sub>{_inline(node)}</sub>"


@_span.register
def _raised(node: nodes.superscript) -> str:
    return f"<sup>{_inline(node)}</sup>"


@_span.register(nodes.emphasis)
@_span.register(nodes.title_reference)
def _emphasis(node: nodes.Element) -> str:
    return f"*{_inline(node)}*"


@_span.register
def _strong(node: nodes.strong) -> str:
    return f"**{_inline(node)}**"


@_span.register
def _alternative(node: nodes.image) -> str:
    return escape(node.get("alt", ""))


@_span.register(nodes.target)
@_span.register(nodes.system_message)
def _nothing(_node: nodes.Node) -> str:
    return ""
