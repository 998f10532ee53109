"""What a page's nodes turn into when readers take the page away: text that needs no site, and cells."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from docutils import nodes
from sphinx import addnodes
from sphinx_design.dropdown import dropdown_main

from gpuguide.exercises import pool
from gpuguide_docs.downloads.exercise_cells import exercise_cells
from gpuguide_docs.downloads.kernel_cells import KernelCells
from gpuguide_docs.downloads.markdown import code_node, escape, markdown_node, ready_node
from gpuguide_docs.pages.cells import Cell
from gpuguide_docs.show.cells import cell_node
from gpuguide_docs.show.exercise_pool import exercise_id, find_exercise, home_of
from gpuguide_docs.show.kernel import shown_source
from gpuguide_docs.show.module_source import ModuleSource
from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.references import measured_on, parse_reference
from gpuguide_docs.show.rungs import strip_node, strip_table
from gpuguide_docs.show.site import Site

__all__ = ["PageTranslation"]

# The first cell says these things, or the site alone can show them.
_LEFT_OUT_TEXT = "gg-byline gg-measured-card only-dark page-draft page-stale page-unmeasured"
_LEFT_OUT = frozenset(_LEFT_OUT_TEXT.split())
# Sphinx has made them round; a script is plain text.
_PLAIN_QUOTES = str.maketrans("‘’“”", "''\"\"")


class PageTranslation:
    """Translates one page."""

    def __init__(self, site: Site, docname: str, site_url: str = "") -> None:
        self._site, self._docname, self._url = site, docname, site_url.rstrip("/")
        self._page = posixpath.basename(docname)
        self._kernels = KernelCells()

    def translate(self, read: nodes.document, cells: Sequence[Cell]) -> nodes.document:
        """Give a page as Sphinx read it, with these cells of code, for `markdown.pieces`."""
        document: nodes.document = read.deepcopy()
        self._kernels = self._kernel_cells(document, cells)
        self._put_cells(document, cells)
        self._replace(document)
        return document

    def _kernel_cells(self, document: nodes.document, cells: Sequence[Cell]) -> KernelCells:
        """Look ahead: what the page shows, and what its cells use."""
        places = [place for place in document.findall(nodes.container) if "kernel" in place]
        shown = [
            (self._source(place["kernel"]), place["names"], isinstance(place.parent, dropdown_main))
            for place in places
        ]
        if not cells:
            return KernelCells(shown)
        codes = [cell.content for cell in cells if cell.is_code]
        return KernelCells(shown, codes, self._topic())

    def _topic(self) -> list[ModuleSource]:
        """Give the modules of the page's topic; what a page repeats of them are most often kernels."""
        page = self._site.page_of(self._docname)
        if page is None:
            return []
        folder = self._site.layout.source.joinpath("gpuguide", "topics", *page.topic.split("."))
        names = sorted(
            (path.stem for path in folder.glob("*.py")), key=lambda name: (name != "kernels", name)
        )
        return [self._source(f"gpuguide.topics.{page.topic}.{name}") for name in names if name != "__init__"]

    def _source(self, module: str) -> ModuleSource:
        return ModuleSource(self._site.layout.source, module)

    def _put_cells(self, document: nodes.document, cells: Sequence[Cell]) -> None:
        """Put the cells of a download in the place of the cells that the page shows."""
        code = {cell.lineno: cell for cell in cells if cell.is_code}
        for node in list(document.findall(cell_node)):
            cell = code[node["lineno"]]
            shown = [] if cell.kind == "comment" else [code_node("", code=cell.content.strip("\n"))]
            node.replace_self(shown)

    def _replace(self, parent: nodes.Element) -> None:
        for node in list(parent.children):
            if isinstance(node, nodes.Text):
                parent.replace(node, nodes.Text(node.astext().translate(_PLAIN_QUOTES)))
            elif isinstance(node, nodes.literal_block | nodes.literal | nodes.math):
                continue
            elif isinstance(node, nodes.Element):
                made = self._made(node)
                if made is None:
                    self._replace(node)
                else:
                    parent.replace(node, made)

    def _made(self, node: nodes.Element) -> list[nodes.Node] | None:
        """Give what takes a node's place; None if it stays, and what is in it is looked at."""
        if _LEFT_OUT.intersection(node["classes"]):
            return []
        words = self._words(node)
        if words is not None:
            return [markdown_node("", words)]
        if isinstance(node, dropdown_main) and "study" not in node:
            self._replace(node)
            title, *content = node.children
            return [nodes.container("", *content, classes=["fold"], summary=title.astext())]
        if isinstance(node, strip_node):
            self._replace(node)
            return [strip_table(_in_brackets(node))]
        cells = self._cells(node)
        if cells is not None:
            return cells
        shown = self._shown(node)
        return [shown] if shown else None

    def _words(self, node: nodes.Element) -> str | None:
        """Give the Markdown of a number or of a link to another page; None for other nodes."""
        if isinstance(node, number_node):
            return self._number(node)
        if isinstance(node, addnodes.pending_xref) and node["reftype"] in ("doc", "ref"):
            return self._reference(node)
        return None

    def _cells(self, node: nodes.Element) -> list[nodes.Node] | None:
        """Give the cells of what shows code; None for other nodes."""
        if isinstance(node, code_node):
            return [code_node("", code=code.strip("\n")) for code in self._kernels.page_cells(node["code"])]
        if node.get("nb_element") == "cell_code":
            # Without what myst-nb put out, which comes again when a reader runs it.
            return [code_node("", code=_code(node))]
        return self._definitions(node) if "kernel" in node else None

    def _definitions(self, node: nodes.Element) -> list[nodes.Node]:
        """Give the cells of definitions that are shown here, and as text what is only to be read."""
        source = self._source(node["kernel"])
        cells, read = self._kernels.shown(source, node["names"])
        if cells and isinstance(node.parent, dropdown_main):
            # A cell stays open, so the title of its fold stands in it.
            cells[0] = f"# {node.parent[0].astext()}\n{cells[0]}"
        made: list[nodes.Node] = [code_node("", code=code) for code in cells]
        if not read:
            return made
        code = shown_source(source, read)
        above = [name for name in read if self._kernels.is_defined(source, name)]
        said = [nodes.paragraph("", "", markdown_node("", _again(above)))] if above else []
        return [*made, *said, nodes.literal_block(code, code, language="python")]

    def _shown(self, node: nodes.Element) -> nodes.Element | None:
        """Give what another directive of the guide shows, by the key that it left."""
        if "exercise" in node:
            return ready_node("", pieces=exercise_cells(find_exercise(node["exercise"])))
        if "study" in node:
            return self._table(node["page"], node["study"])
        if "drawing" in node:
            return nodes.paragraph("", "", nodes.emphasis("", f"Drawing: {node['alt']}"))
        return None

    def _number(self, node: number_node) -> str:
        text = escape(node.astext())
        page = parse_reference(node["key"]).page if "gg-measured" in node["classes"] else ""
        recording = self._site.state(page).shown if page not in ("", self._page) else None
        # Machine and date of this page's own numbers stand in the first cell.
        return f"{text} ({escape(measured_on(recording, starts=False))})" if recording else text

    def _table(self, page: str, study: str) -> nodes.container:
        recording = self._site.state(page).shown
        assert recording is not None, "the directive found it"
        results = recording.studies[study]
        text = str(results)
        summary = f"Table: {results.title}, {measured_on(recording, starts=False)}"
        inside = nodes.literal_block(text, text, language="text")
        return nodes.container("", inside, classes=["fold"], summary=summary)

    def _reference(self, node: addnodes.pending_xref) -> str:
        title = node.astext().translate(_PLAIN_QUOTES) if node["refexplicit"] else ""
        return (self._doc if node["reftype"] == "doc" else self._ref)(title, node["reftarget"])

    def _doc(self, title: str, target: str) -> str:
        docname = posixpath.normpath(posixpath.join("/", posixpath.dirname(self._docname), target))[1:]
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


def _in_brackets(strip: nodes.Element) -> nodes.Element:
    """Put the small words of a strip in brackets, since Markdown has them no smaller."""
    for small in strip.findall(nodes.inline):
        if "gg-small" in small["classes"]:
            small.insert(0, nodes.Text("("))
            small.append(nodes.Text(")"))
    return strip


def _again(names: Sequence[str]) -> str:
    *most, last = (f"`{name}`" for name in names)
    if not most:
        return f"Here is {last} again. To change it, edit the cell above that defines it."
    return (
        f"Here are {', '.join(most)} and {last} again. To change them, edit the cell above that defines them."
    )


def _code(cell: nodes.Element) -> str:
    """Give the code of a cell that myst-nb ran."""
    shown = cell.next_node(nodes.literal_block)
    assert shown is not None, "a code cell shows its code"
    code: str = shown.astext()
    return code
