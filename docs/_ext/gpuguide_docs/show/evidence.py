"""The role ``evidence``: what a cause on a page rests on, linked to the code or the row that shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
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
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.show.site import Site

__all__ = ["EVIDENCE", "EvidenceLinks", "EvidenceRole", "setup"]

#: Kind of evidence -> the word that readers see.
EVIDENCE = {"count": "counted", "variant": "measured", "counter": "measured", "opinion": "not tested"}
_PYTHON = ("python", "Python")


class EvidenceRole(ReportingRole):
    """``:evidence:`count warp_steps```, ``variant NAME``, ``counter NAME`` or ``opinion``, after a cause."""

    def node(self) -> nodes.Node:
        """Give the word in brackets."""
        kind, name = _parsed(self.text)
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
        if page is None:
            raise ArgumentError("Expected a page of examples/pages.toml; elsewhere only opinion is possible.")
        state = site.state(page.name, self.env) if page.format == "script" else None
        if kind == "count":
            files = _topic_files(site, page)
            for path in files:
                self.env.note_dependency(str(path))
            recorded = _declared(state.shown) if state and state.shown else []
            _known("count", name, [*_counts(site, page, files), *recorded])
            return True
        if state is None or state.shown is None:
            return False
        if kind == "counter":
            if name not in COUNTERS:
                raise unknown("counter", name, COUNTERS)
            return name in _counters(state.shown)
        _known(kind, name, _variants(state.shown))
        return True


def _parsed(text: str) -> tuple[str, str]:
    kind, _, name = " ".join(text.split()).partition(" ")
    if kind not in EVIDENCE:
        raise unknown("kind of evidence", kind, EVIDENCE)
    if (kind == "opinion") == bool(name.strip()):
        wanted = "takes no name" if kind == "opinion" else "needs a name"
        raise ArgumentError(f"{kind} {wanted}: write count NAME, variant NAME, counter NAME or opinion.")
    return kind, name.strip()


def _known(kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise unknown(kind, name, names)


def _topic_files(site: Site, page: Page) -> list[Path]:
    path = site.layout.source.joinpath("gpuguide", "topics", *page.topic.split("."))
    return sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def _counts(site: Site, page: Page, files: list[Path]) -> list[str]:
    """Name what counts work: functions and declared work of the topic, functions and facts of the cells."""
    sources = [path.read_text(encoding="utf-8") for path in files if path.exists()]
    if page.format == "script":
        sources.append(page.script(site.layout).read_text(encoding="utf-8"))
    return [name for source in sources for name in _made_in(source)]


def _made_in(source: str) -> Iterator[str]:
    """Give the functions that code defines, and the facts that it states."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
    yield from _works_in(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "gg.fact" and call.args:
            first = call.args[0]
            if isinstance(first, ast.Constant):
                yield str(first.value)


def _works_in(tree: ast.Module) -> Iterator[str]:
    """Give the names of declared work: ``work={"marks": ...}``, or ``"work": {"marks": ...}`` of options."""
    given: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "work":
            given.append(node.value)
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            given += [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "work"]
    for value in given:
        keys = value.keys if isinstance(value, ast.Dict) else []
        yield from (str(key.value) for key in keys if isinstance(key, ast.Constant))


def _declared(recording: Recording) -> list[str]:
    cells = (cell for results in recording.studies.values() for cell in results.measurements)
    return list(dict.fromkeys(work.name for cell in cells for work in cell.work))


def _variants(recording: Recording) -> list[str]:
    return [info.name for results in recording.studies.values() for info in results.variants]


def _counters(recording: Recording) -> list[str]:
    return sorted({name for cell in recording.counters for name in cell.names})


class EvidenceLinks(SphinxTransform):
    """Links each piece of evidence to what shows it on its page, wherever that is."""

    # When all cells and rungs stand where they belong, and the card with its counters is there.
    default_priority = 405

    def apply(self, **_kwargs: object) -> None:
        """Link what can be linked."""
        for node in list(self.document.findall(nodes.inline)):
            if node.get("of") and node["shown"]:
                target = self._target(node["evidence"], node["of"])
                if target is not None:
                    words = node.astext().strip("[]")
                    link = nodes.reference("", words, refid=self._id(target, node["of"]), internal=True)
                    node[:] = [nodes.Text("["), link, nodes.Text("]")]

    def _target(self, kind: str, name: str) -> nodes.Element | None:
        found: dict[int, nodes.Element] = {}
        for node in self.document.findall(nodes.Element):
            rank = _rank(node, kind, name)
            if rank:
                found.setdefault(rank, node)
        return found[min(found)] if found else None

    def _id(self, target: nodes.Element, name: str) -> str:
        if isinstance(target, nodes.literal_block):
            # Where names in code are linked, sphinx-gallery puts a node without identifiers in its place.
            block, target = target, nodes.target()
            block.parent.insert(block.parent.index(block), target)
        if not target["ids"]:
            taken = {each for node in self.document.findall(nodes.Element) for each in node["ids"]}
            wanted = f"evidence-{nodes.make_id(name)}"
            target["ids"].append(wanted if wanted not in taken else f"{wanted}-{len(taken)}")
        return str(target["ids"][0])


def _rank(node: nodes.Element, kind: str, name: str) -> int:
    """Say how well a node shows a piece of evidence: 1 is best, 0 not at all."""
    if kind == "counter":
        return int(name in node.get("counters", ()))
    if kind == "variant" and node.get("rung") == name:
        return 1
    if "kernel" in node and name in node["names"]:
        return 2
    if kind == "variant" and isinstance(node, dropdown_main) and name in node.get("variants", ()):
        return 3
    is_code = isinstance(node, nodes.literal_block) and node.get("language") in _PYTHON
    # A kernel's own block is inside what was found above.
    # To parse it takes a hundred times as long as to look for the name.
    if is_code and name in (code := node.astext()) and name in _made_in(code):
        return 4
    return 5 if kind == "count" and node.get("counts") == name else 0


def setup(app: Sphinx) -> None:
    """Register role and transform."""
    app.add_role("evidence", EvidenceRole())
    app.add_transform(EvidenceLinks)
