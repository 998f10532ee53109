"""Links the first use of each glossary term on a page, as the role ``term`` would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_design.dropdown import dropdown_main

from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.site import link_to, site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["GlossaryLinks", "setup"]

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
_OTHER_TEXT = (
    "gg-question gg-byline gg-learn gg-measured-card gg-kernel-origin gg-download-wheel gg-exercise gg-rule"
)
_OTHER_CLASSES = frozenset(_OTHER_TEXT.split())
_TERM = ("xref", "std", "std-term")


class GlossaryLinks(SphinxPostTransform):
    """Links each term where a page first uses it; one that the author linked is left alone."""

    # When all glossaries are read, and before links are resolved.
    default_priority = 4

    def run(self, **_kwargs: object) -> None:
        """Link on the pages of the guide; other documents stay as they are."""
        if site_of(self.env).page_of(self.env.docname) is None:
            return
        terms = [name for kind, name in self.env.domains.standard_domain.objects if kind == "term"]
        linked = {
            _one_space(node["reftarget"])
            for node in self.document.findall(addnodes.pending_xref)
            if node["reftype"] == "term"
        }
        unlinked = {term.lower(): term for term in terms if term.lower() not in linked}
        # What is folded away is read last, if at all.
        for text in sorted(_prose(self.document), key=_is_folded):
            _link_first_uses(text, unlinked, self.env.docname)


def _prose(node: nodes.Element) -> Iterator[nodes.Text]:
    """Give the texts of paragraphs in their order, without code, numbers and what is linked already."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            if any(isinstance(parent, nodes.paragraph) for parent in _parents(child)):
                yield child
        elif isinstance(child, nodes.Element) and not (
            isinstance(child, _NO_PROSE) or _OTHER_CLASSES.intersection(child["classes"])
        ):
            yield from _prose(child)


def _is_folded(text: nodes.Text) -> bool:
    # A dropdown is still a container when this transform runs.
    return any(
        isinstance(parent, dropdown_main) or parent.get("design_component") == "dropdown"
        for parent in _parents(text)
    )


def _parents(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def _link_first_uses(text: nodes.Text, unlinked: dict[str, str], docname: str) -> None:
    """Link the terms of a text, and take them off the list."""
    longest_first = sorted(unlinked, key=len, reverse=True)
    words = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest_first)
    parts: list[nodes.Node] = []
    end = 0
    for match in re.finditer(rf"\b({words})s?\b", text, re.IGNORECASE) if unlinked else ():
        name = unlinked.pop(_one_space(match[1]), None)
        if name is not None:
            link = link_to(docname, "term", name, match[0], classes=_TERM)
            parts += [nodes.Text(text[end : match.start()]), link]
            end = match.end()
    if parts:
        text.parent.replace(text, [part for part in [*parts, nodes.Text(text[end:])] if part.astext()])


def _one_space(words: str) -> str:
    return " ".join(words.lower().split())


def _changed(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have all pages written again when a term came or went."""
    terms = sorted(name for kind, name in env.domains.standard_domain.objects if kind == "term")
    if terms == getattr(env, "gpuguide_terms", None):
        return []
    env.gpuguide_terms = terms  # type: ignore[attr-defined]
    return [page.docname for page in site_of(env).pages if page.docname in env.all_docs]


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(GlossaryLinks)
    app.connect("env-updated", _changed)
