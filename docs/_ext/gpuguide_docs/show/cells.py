"""Cells of a page: code and what it put out, as one node; some are folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_design.dropdown import dropdown_main, dropdown_title

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["CARD_ID", "CARD_TITLE", "CellDirective", "FoldsInPlace", "cell_node", "fold", "setup"]

#: The fold at the end of a page, which holds its bookkeeping.
CARD_ID = "how-this-was-measured"
CARD_TITLE = "How this was measured"


def fold(summary: str, *content: nodes.Node, classes: tuple[str, ...] = ()) -> dropdown_main:
    """Put content under a line that is always shown, and that a click opens.

    These are the nodes that a ``dropdown`` of sphinx-design becomes in the end, without its card and icons.
    """
    return dropdown_main("", dropdown_title("", summary), *content, classes=["gg-fold", *classes])


class cell_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """A cell: attributes ``lineno``, its line in the script, and ``wrong``; it writes nothing itself."""


class CellDirective(SphinxDirective):
    """``.. cell:: LINE``, which replay writes around a block of code and what the code put out."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {
        "fold": directives.unchanged_required,
        **dict.fromkeys(("at-end", "code-only", "wrong"), directives.flag),
    }

    def run(self) -> list[nodes.Node]:
        """Fold what the options say."""
        code, *output = self.parse_content_to_nodes()
        cell = cell_node("", lineno=int(self.arguments[0]), wrong="wrong" in self.options)
        if "fold" not in self.options:
            cell += [code, *output]
        elif "code-only" in self.options:
            cell += [*output, self._folded(code)]
        else:
            cell += self._folded(code, *output)
        return [cell]

    def _folded(self, *content: nodes.Node) -> dropdown_main:
        title = self.options["fold"]
        inside = nodes.container("", *content, ids=[self._new_id(title)])
        self.state.document.set_id(inside)
        classes = ("gg-wrong-fold",) if "wrong" in self.options else ()
        folded = fold(title, inside, classes=("gg-cell", *classes))
        folded["at_end"], folded["code_only"] = "at-end" in self.options, "code-only" in self.options
        return folded

    def _new_id(self, title: str) -> str:
        first = f"cell-{nodes.make_id(title)}".rstrip("-")
        taken = self.state.document.ids
        names = (first, *(f"{first}-{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)


class FoldsInPlace(SphinxPostTransform):
    """Moves the folded bookkeeping into the card at the end of the page, or makes the fold that holds it.

    The code of a chart goes below its caption. Only what is shown is in this order: downloads see
    the cells in the order they run in.
    """

    default_priority = 8

    def run(self, **_kwargs: object) -> None:
        """Move the cells."""
        folds = [node for node in self.document.findall(dropdown_main) if isinstance(node.parent, cell_node)]
        for chart in (node for node in folds if node["code_only"]):
            _put_below_the_caption(chart)
        at_end = [node for node in folds if node["at_end"]]
        if not at_end:
            return
        for node in at_end:
            node.parent.remove(node)
        inside = next((n for n in self.document.findall(nodes.container) if CARD_ID in n["ids"]), None)
        if inside is None:
            inside = nodes.container(ids=[CARD_ID])
            section = next(iter(self.document.findall(nodes.section)), self.document)
            section.append(fold(CARD_TITLE, inside, classes=("gg-measured-card",)))
        inside[0:0] = at_end


def _put_below_the_caption(chart: nodes.Element) -> None:
    cell = chart.parent
    parent = cell.parent
    below = range(parent.index(cell) + 1, len(parent))
    place = next((i for i in below if not _is_of_a_caption(parent[i])), len(parent))
    parent.insert(place, chart)
    cell.remove(chart)


def _is_of_a_caption(node: nodes.Node) -> bool:
    return isinstance(node, nodes.comment) or (isinstance(node, nodes.paragraph) and "caption" in node)


def _pass(_writer: Any, _node: nodes.Node) -> None:
    """Code and output stand where the cell does."""


def setup(app: Sphinx) -> None:
    """Register directive, node and transform."""
    app.setup_extension("sphinx_design")
    plain = (_pass, _pass)
    app.add_node(cell_node, html=plain, latex=plain, text=plain, man=plain, texinfo=plain)
    app.add_directive("cell", CellDirective)
    app.add_post_transform(FoldsInPlace)
