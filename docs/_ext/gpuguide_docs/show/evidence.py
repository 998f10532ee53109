"""The role ``evidence``: what a cause on a page rests on, listed in the card and linked to what shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx_design.dropdown import dropdown_main

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.counters import COUNTERS
from gpuguide_docs.show.cells import card_of
from gpuguide_docs.show.numbers import ReportingRole
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording

__all__ = ["EVIDENCE", "EvidenceLinks", "EvidenceRole", "setup"]

#: Kind of evidence -> the word that readers see: in the text for an opinion, else in the card.
EVIDENCE = {"count": "counted", "variant": "measured", "counter": "measured", "opinion": "not tested"}


class EvidenceRole(ReportingRole):
    """``:evidence:`count warp_steps```, ``variant NAME``, ``counter NAME`` or ``opinion``, after a cause."""

    def node(self) -> nodes.Node:
        """Give the word in brackets."""
        kind, _, name = " ".join(self.text.split()).partition(" ")
        if kind not in EVIDENCE:
            raise unknown("kind of evidence", kind, EVIDENCE)
        if (kind == "opinion") == bool(name):
            needed = "takes no name" if kind == "opinion" else "needs a name"
            raise ArgumentError(f"{kind} {needed}: write count NAME, variant NAME, counter NAME or opinion.")
        node = nodes.inline(self.rawtext, f"[{EVIDENCE[kind]}]", classes=["gg-evidence"])
        node["evidence"], node["of"], node["shown"] = kind, name, self._is_shown(kind, name)
        return node

    def _is_shown(self, kind: str, name: str) -> bool:
        """Say whether there is anything to show yet; GpuGuideError where the page has no such thing."""
        if kind == "opinion":
            return True
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if page is None or page.format != "script":
            raise ArgumentError("Expected a page that is recorded; elsewhere only opinion is possible.")
        recording = site.state(page.name, self.env).shown
        if kind == "count":
            # What counts work: functions and declared work of the topic, functions and facts of the cells.
            topic = site.layout.source.joinpath("gpuguide", "topics", page.topic)
            paths = [*sorted(topic.glob("*.py")), page.script(site.layout)]
            for path in paths:
                self.env.note_dependency(str(path))
            sources = (path.read_text(encoding="utf-8") for path in paths)
            counts = [*(count for source in sources for count in _counts_in(source)), *_declared(recording)]
            return _known("count", name, counts)
        if recording is None:
            return False
        if kind == "counter":
            _known("counter", name, COUNTERS)
            return any(name in cell.names for cell in recording.counters)
        infos = (info for results in recording.studies.values() for info in results.variants)
        return _known("variant", name, [info.name for info in infos])


def _known(kind: str, name: str, names: Iterable[str]) -> bool:
    known = list(names)
    if name not in known:
        raise unknown(kind, name, known)
    return True


def _counts_in(source: str) -> Iterator[str]:
    """Give the functions that code defines, the facts that it states, and the work that it declares."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("gg"), "fact"), [ast.Constant(str(name)), *_]):
                yield name
            case ast.keyword("work", ast.Dict(keys)):
                yield from (str(key.value) for key in keys if isinstance(key, ast.Constant))


def _declared(recording: Recording | None) -> list[str]:
    studies = recording.studies.values() if recording else ()
    return [work.name for results in studies for cell in results.measurements for work in cell.work]


class EvidenceLinks(SphinxTransform):
    """Lists in the card what each cause rests on, with a link to what shows it, wherever that is."""

    # When all cells and rungs stand where they belong, and the card with its counters is there.
    default_priority = 405

    def apply(self, **_kwargs: object) -> None:
        """Take the marks out of the text, all but those of opinions."""
        items = []
        for node in [node for node in self.document.findall(nodes.inline) if node.get("of")]:
            sentence = _taken_out(node)
            if node["shown"]:
                cause = nodes.paragraph("", f"{sentence} ", self._link(node["evidence"], node["of"]))
                items.append(nodes.list_item("", cause))
        if items:
            lead = nodes.paragraph("", "What the causes on this page rest on:")
            card_of(self.document)[0:0] = [lead, nodes.bullet_list("", *items, bullet="*")]

    def _link(self, kind: str, name: str) -> nodes.Node:
        words = f"[{EVIDENCE[kind]}: {name.replace('_', ' ')}]"
        target = min(self._elements(), key=lambda target: _rank(target, kind, name))
        if _rank(target, kind, name) == _NOT_AT_ALL:
            return nodes.Text(words)
        return nodes.reference("", words, refid=self._id(target, name), internal=True)

    def _elements(self) -> Iterator[nodes.Element]:
        return self.document.findall(nodes.Element)

    def _id(self, target: nodes.Element, name: str) -> str:
        if isinstance(target, nodes.literal_block):
            # Where names in code are linked, sphinx-gallery puts a node without identifiers in its place.
            block, target = target, nodes.target()
            block.parent.insert(block.parent.index(block), target)
        if not target["ids"]:
            taken = {name for node in self._elements() for name in node["ids"]}
            own = f"evidence-{nodes.make_id(name)}"
            target["ids"].append(own if own not in taken else f"{own}-{len(taken)}")
        return str(target["ids"][0])


def _taken_out(node: nodes.inline) -> str:
    """Remove a mark with the space before it, and give the sentence that it follows."""
    parent = node.parent
    at = parent.index(node)
    parent.remove(node)
    before = parent[at - 1] if at else None
    if isinstance(before, nodes.Text):
        parent[at - 1] = nodes.Text(before.rstrip())
    text = " ".join("".join(part.astext() for part in parent[:at]).split())
    return re.split(r"(?<=[.!?]) ", text)[-1]


_NOT_AT_ALL = 9


def _rank(node: nodes.Element, kind: str, name: str) -> int:
    """Say how well a node shows a piece of evidence: 1 is best."""
    if kind == "counter":
        return 1 if name in node.get("counters", ()) else _NOT_AT_ALL
    if kind == "variant" and node.get("rung") == name:
        return 1
    if "kernel" in node and name in node["names"]:
        return 2
    if kind == "variant" and isinstance(node, dropdown_main) and name in node.get("variants", ()):
        return 3
    is_code = isinstance(node, nodes.literal_block) and node.get("language") in ("python", "Python")
    # A kernel's own block is inside what was found above.
    # To parse it takes a hundred times as long as to look for the name.
    if is_code and name in (code := node.astext()) and name in _counts_in(code):
        return 4
    return _NOT_AT_ALL


def setup(app: Sphinx) -> None:
    """Register role and transform."""
    app.add_role("evidence", EvidenceRole())
    app.add_transform(EvidenceLinks)
