"""Cells that a page folds: side paths where they stand, bookkeeping at the end of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_design.dropdown import dropdown_main

from gpuguide_docs.show.card import CARD_ID, CARD_TITLE
from gpuguide_docs.show.folded import fold

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["FoldedCellDirective", "FoldedCells", "FoldsInPlace", "setup"]

_GENERATED = "GENERATED FROM PYTHON SOURCE LINES"


class mark_node(nodes.Invisible, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Stands in a cell that is folded: attributes ``title``, ``at_end``, ``wrong`` and ``code_only``."""


class FoldedCellDirective(SphinxDirective):
    """``.. folded-cell:: TITLE``, which the build writes under the code of a cell, folds code and output."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = dict.fromkeys(("at-end", "wrong", "code-only"), directives.flag)

    def run(self) -> list[nodes.Node]:
        """Mark the cell; the transform folds it."""
        flags = {name: name.replace("_", "-") in self.options for name in ("at_end", "wrong", "code_only")}
        return [mark_node("", title=self.arguments[0], **flags)]


class FoldedCells(SphinxTransform):
    """Puts the code and the output of each marked cell into a fold, where the cell stands."""

    # Before the frame of the page, whose minutes leave out what is folded.
    default_priority = 390

    def apply(self, **_kwargs: object) -> None:
        """Fold; a document without marks stays as it is."""
        for mark in list(self.document.findall(mark_node)):
            parent = mark.parent
            assert parent is not None, "a directive stands in a document"
            at = parent.index(mark)
            first = max(i for i in range(at) if _begins_a_cell(parent[i])) + 1
            rest = range(at + 1, len(parent))
            last = next((i for i in rest if _ends_a_cell(parent[i])), len(parent))
            output = parent[at + 1 : last]
            inside = nodes.container("", *parent[first:at], *([] if mark["code_only"] else output))
            inside["ids"].append(self._new_id(mark["title"]))
            classes = ("gg-wrong-fold",) if mark["wrong"] else ()
            folded = fold(mark["title"], inside, classes=("gg-cell", *classes))
            folded["at_end"], folded["code_only"] = mark["at_end"], mark["code_only"]
            parent[first:last] = [*output, folded] if mark["code_only"] else [folded]

    def _new_id(self, title: str) -> str:
        wanted = f"cell-{nodes.make_id(title)}".rstrip("-")
        taken = {name for node in self.document.findall(nodes.Element) for name in node["ids"]}
        names = (wanted, *(f"{wanted}-{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)


def _begins_a_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.comment) and node.astext().startswith(_GENERATED)


def _ends_a_cell(node: nodes.Node) -> bool:
    return _begins_a_cell(node) or isinstance(node, nodes.section | nodes.target)


class FoldsInPlace(SphinxPostTransform):
    """Moves the folded bookkeeping into the card at the end of the page, or makes the fold that holds it.

    The code of a chart goes below its caption. Only what is shown is in this order: downloads see
    the cells in the order they run in.
    """

    default_priority = 8

    def run(self, **_kwargs: object) -> None:
        """Move the cells."""
        for chart in [node for node in self.document.findall(dropdown_main) if node.get("code_only")]:
            _put_below_the_caption(chart)
        cells = [node for node in self.document.findall(dropdown_main) if node.get("at_end")]
        if not cells:
            return
        for cell in cells:
            cell.parent.remove(cell)
        inside = next((n for n in self.document.findall(nodes.container) if CARD_ID in n["ids"]), None)
        if inside is None:
            inside = nodes.container(ids=[CARD_ID])
            section = next(iter(self.document.findall(nodes.section)), self.document)
            section.append(fold(CARD_TITLE, inside, classes=("gg-measured-card",)))
        inside[0:0] = cells


def _put_below_the_caption(chart: nodes.Element) -> None:
    parent = chart.parent
    assert parent is not None, "a fold stands in a document"
    at = parent.index(chart)
    between = (i for i in range(at + 1, len(parent)) if not _is_of_a_caption(parent[i]))
    after = next(between, len(parent))
    caption = parent[at + 1 : after]
    parent[at:after] = [*caption, chart]


def _is_of_a_caption(node: nodes.Node) -> bool:
    return isinstance(node, nodes.comment) or (isinstance(node, nodes.paragraph) and "caption" in node)


def setup(app: Sphinx) -> None:
    """Register directive and transforms."""
    app.setup_extension("sphinx_design")
    app.add_node(mark_node)
    app.add_directive("folded-cell", FoldedCellDirective)
    app.add_transform(FoldedCells)
    app.add_post_transform(FoldsInPlace)
