"""Links the first use of each glossary term on a page, as the role ``term`` would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_design.dropdown import dropdown_main

from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["GlossaryLinks", "glossary_file", "glossary_terms", "setup"]

# Between these lines of glossary.md or glossary.rst, a term begins its line and its meaning is indented.
_MYST = re.compile(r"^(:{3,}|`{3,})\{glossary\}\s*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_REST = re.compile(r"^\.\. glossary::\s*\n((?:[ \t].*\n|[ \t]*\n)*)", re.MULTILINE)

# Prose stands in paragraphs; in them, these are no prose or lead elsewhere already.
_NO_PROSE = (
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.reference,
    nodes.footnote_reference,
    nodes.target,
    nodes.problematic,
    addnodes.pending_xref,
    addnodes.download_reference,
    number_node,
)
# The question is a second heading; the rest is not written on the page.
_OTHER_TEXT = "gg-question gg-byline gg-measured-card gg-kernel-origin gg-download-wheel gg-exercise gg-rule"
_OTHER_CLASSES = frozenset(_OTHER_TEXT.split())


class GlossaryLinks(SphinxTransform):
    """Links each term where a page first uses it; one that the author linked is left alone."""

    # After the byline and the card were put in, which are not prose.
    default_priority = 410

    def apply(self, **_kwargs: object) -> None:
        """Link on the pages of the guide; other documents stay as they are."""
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if page is None:
            return
        file = glossary_file(site.layout.docs)
        if file is None:
            return
        self.env.note_dependency(str(file))
        terms = {term.lower(): term for term in glossary_terms(file.read_text(encoding="utf-8"))}
        linked = {
            _one_space(node["reftarget"])
            for node in self.document.findall(addnodes.pending_xref)
            if node["reftype"] == "term"
        }
        wanted = {term: name for term, name in terms.items() if term not in linked}
        # What is folded away is read last, if at all.
        for text in sorted(_prose(self.document), key=_is_folded):
            _link_first_uses(text, wanted, self.env.docname)


def glossary_file(docs: Path) -> Path | None:
    """Find the glossary."""
    return next((path for path in (docs / "glossary.md", docs / "glossary.rst") if path.is_file()), None)


def glossary_terms(text: str) -> list[str]:
    """List the terms that a glossary explains, from its source: another process may read it."""
    blocks = [block for _, block in _MYST.findall(text)] + _REST.findall(text)
    terms = []
    for block in blocks:
        lines = [line for line in block.splitlines() if line.strip() and not line.lstrip().startswith(":")]
        edge = min((len(line) - len(line.lstrip()) for line in lines), default=0)
        terms += [line.strip() for line in lines if not line[edge].isspace()]
    return terms


def _prose(node: nodes.Element) -> Iterator[nodes.Text]:
    """Give the texts of paragraphs in their order, without code, numbers and what is linked already."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            if any(isinstance(parent, nodes.paragraph) for parent in _parents(child)):
                yield child
        elif isinstance(child, nodes.Element) and _has_prose(child):
            yield from _prose(child)


def _has_prose(node: nodes.Element) -> bool:
    return not (isinstance(node, _NO_PROSE) or _OTHER_CLASSES.intersection(node["classes"]))


def _is_folded(text: nodes.Text) -> bool:
    # A dropdown is still a container when transforms run.
    return any(
        isinstance(parent, dropdown_main) or parent.get("design_component") == "dropdown"
        for parent in _parents(text)
    )


def _parents(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def _link_first_uses(text: nodes.Text, wanted: dict[str, str], docname: str) -> None:
    """Link what is wanted in a text, and take it off the list."""
    if not wanted:
        return
    longest_first = sorted(wanted, key=len, reverse=True)
    words = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest_first)
    parts: list[nodes.Node] = []
    end = 0
    for found in re.finditer(rf"\b({words})s?\b", text, re.IGNORECASE):
        name = wanted.pop(_one_space(found[1]), None)
        if name is not None:
            parts += [nodes.Text(text[end : found.start()]), _link(found[0], name, docname)]
            end = found.end()
    if parts:
        text.parent.replace(text, [part for part in [*parts, nodes.Text(text[end:])] if part.astext()])


def _link(words: str, term: str, docname: str) -> addnodes.pending_xref:
    """Make what Sphinx's role ``term`` makes."""
    shown = nodes.inline(words, words, classes=["xref", "std", "std-term"])
    return addnodes.pending_xref(
        words,
        shown,
        refdoc=docname,
        refdomain="std",
        reftype="term",
        reftarget=term,
        refexplicit=_one_space(words) != term.lower(),
        refwarn=True,
    )


def _one_space(words: str) -> str:
    return " ".join(words.lower().split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_transform(GlossaryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
