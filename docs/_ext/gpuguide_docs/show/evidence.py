"""The role ``evidence``: what a cause on a page rests on, linked to the code or the row that shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx_design.dropdown import dropdown_main

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.counters import COUNTERS
from gpuguide_docs.show.numbers import NOT_MEASURED, ReportingRole
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording

__all__ = ["EVIDENCE", "EvidenceLinks", "EvidenceRole", "setup"]

#: Kind of evidence -> the word that readers see.
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
        shown = self._is_shown(kind, name)
        word = EVIDENCE[kind] if shown else NOT_MEASURED
        node = nodes.inline(self.rawtext, f"[{word}]", classes=["gg-evidence"])
        node["evidence"], node["of"], node["shown"] = kind, name, shown
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
    """Links each piece of evidence to what shows it on its page, wherever that is."""

    # When all cells and rungs stand where they belong, and the card with its counters is there.
    default_priority = 405

    def apply(self, **_kwargs: object) -> None:
        """Link what can be linked."""
        for node in list(self.document.findall(nodes.inline)):
            if node.get("of") and node["shown"]:
                kind, name = node["evidence"], node["of"]
                target = min(self._elements(), key=lambda target: _rank(target, kind, name))
                if _rank(target, kind, name) < _NOT_AT_ALL:
                    words = node.astext().strip("[]")
                    link = nodes.reference("", words, refid=self._id(target, name), internal=True)
                    node[:] = [nodes.Text("["), link, nodes.Text("]")]

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
    return 5 if kind == "count" and node.get("counts") == name else _NOT_AT_ALL


def setup(app: Sphinx) -> None:
    """Register role and transform."""
    app.add_role("evidence", EvidenceRole())
    app.add_transform(EvidenceLinks)
