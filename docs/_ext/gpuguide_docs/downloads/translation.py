"""What a page's roles and directives turn into when readers take the page away."""

from __future__ import annotations

import posixpath
import re

from docutils import nodes

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide_docs.downloads.exercise_cells import exercise_cells
from gpuguide_docs.downloads.kernel_cells import KernelCells
from gpuguide_docs.downloads.markdown import escape
from gpuguide_docs.downloads.page_rst import ExportError, Found, Translation, code_node, ready_node
from gpuguide_docs.pages.pages_toml import Page
from gpuguide_docs.show.exercise_pool import exercise_id, find_exercise, home_of
from gpuguide_docs.show.module_source import ModuleSource
from gpuguide_docs.show.numbers import NOT_MEASURED
from gpuguide_docs.show.references import measured_on, parse_reference, resolve
from gpuguide_docs.show.site import Site

__all__ = ["PageTranslation"]

_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
_OBJECTS_TEXT = "any attr class const data download exc file func meth mod obj"
_TEXTS_TEXT = "abbr command dfn guilabel kbd menuselection program rule term"
_OBJECTS, _TEXTS = frozenset(_OBJECTS_TEXT.split()), frozenset(_TEXTS_TEXT.split())


class PageTranslation(Translation):
    """Translates one page.

    Parameters
    ----------
    site : Site
        Pages, claims and recordings.
    page : Page
        The page.
    site_url : str
        Where the guide is served; empty makes links into plain text.
    """

    def __init__(self, site: Site, page: Page, site_url: str = "") -> None:
        super().__init__(page.name)
        self._site, self._here, self._url = site, page, site_url.rstrip("/")
        self._cells = KernelCells()

    def role(self, name: str, text: str) -> str:
        """Give Markdown for a role."""
        kind = name.rpartition(":")[2]
        match = _TITLED.fullmatch(text)
        title, target = (match["title"], match["target"]) if match else ("", text)
        if kind in ("measured", "claimed"):
            return self._number(kind, text)
        if kind in ("doc", "ref"):
            return self._doc(title, target) if kind == "doc" else self._ref(title, target)
        if kind in _OBJECTS:
            return f"`{title or _object_name(target)}`"
        if kind in _TEXTS:
            return escape(title or target)
        return super().role(name, text)

    def directive(self, found: Found) -> list[nodes.Node]:
        """Give nodes for a directive."""
        try:
            match found.name:
                case "kernel":
                    return [code_node("", code=self._kernel(found))]
                case "exercise":
                    exercise = find_exercise(found.argument)
                    return [ready_node("", pieces=exercise_cells(exercise))]
                case "results" | "checks" | "claims":
                    return self._recorded(found)
                case "drawing":
                    words = " ".join(found.content.split())
                    return [nodes.paragraph("", "", nodes.emphasis("", f"Drawing: {words}"))]
        except GpuGuideError as error:
            raise ExportError(f"page {self.page!r}: {found.name}: {error}") from error
        return super().directive(found)

    def _number(self, kind: str, text: str) -> str:
        try:
            return escape(self._measured(text) if kind == "measured" else self._site.claims[text].text)
        except (GpuGuideError, KeyError) as error:
            raise ExportError(f"page {self.page!r}: {kind} {text!r}: {error}") from error

    def _measured(self, text: str) -> str:
        reference = parse_reference(text)
        name = reference.page or self._here.name
        recording = self._site.recording(self._site.state(name))
        if recording is None:
            return NOT_MEASURED
        number = resolve(reference, recording).text
        # Machine and date of this page's own numbers stand in the first cell.
        return number if name == self._here.name else f"{number} ({measured_on(recording.provenance)})"

    def _kernel(self, found: Found) -> str:
        source = ModuleSource(self._site.layout.source, found.argument)
        names = found.options.get("names", "").replace(",", " ").split()
        return self._cells.cell(source, names or list(source.names))

    def _recorded(self, found: Found) -> list[nodes.Node]:
        page, _, study = found.argument.rpartition(":")
        state = self._site.state(page or self._here.name)
        recording = self._site.recording(state)
        if recording is None:
            return [nodes.paragraph("", NOT_MEASURED)]
        if found.name == "claims":
            claims = self._site.drawing(state).stated.claims
            items = [nodes.list_item("", nodes.paragraph("", claim.text)) for claim in claims]
            return [nodes.bullet_list("", *items)] if items else []
        if study not in recording.studies:
            raise ExportError(f"page {self.page!r}: {found.name}: there is no study {study!r}")
        results = recording.studies[study]
        if found.name == "checks":
            return [nodes.paragraph("", results.checks_line())]
        text = str(results)
        inside = nodes.literal_block(text, text, classes=["code", "text"])
        where = measured_on(recording.provenance)
        return [nodes.container("", inside, classes=["fold"], summary=f"Table: {results.title}, {where}")]

    def _doc(self, title: str, target: str) -> str:
        docname = posixpath.normpath(posixpath.join("/", posixpath.dirname(self._here.docname), target))[1:]
        page = self._site.page_of(docname)
        words = title or (page.title if page else posixpath.basename(docname).replace("_", " "))
        return self._link(words, f"{docname}.html")

    def _ref(self, title: str, target: str) -> str:
        for page in self._site.pages:
            if target == f"sphx_glr_{page.docname.replace('/', '_')}.py":
                return self._link(title or page.title, f"{page.docname}.html")
        for exercise in pool.names():
            home = home_of(self._site, exercise)
            if home and target == exercise_id(exercise):
                return self._link(title or find_exercise(exercise).title, f"{home.docname}.html#{target}")
        return escape(title or target.replace("-", " ").replace("_", " "))

    def _link(self, words: str, path: str) -> str:
        return f"[{escape(words)}]({self._url}/{path})" if self._url else escape(words)


def _object_name(target: str) -> str:
    return target[1:].rpartition(".")[2] if target.startswith("~") else target.removeprefix("!")
