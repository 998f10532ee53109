"""What other pages say about a page: tiles, rows of sections, all findings, and the role ``minutes``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

from gpuguide.results.units import size_words
from gpuguide_docs.pages.pages_toml import LEVELS, Page, Section, read_sections
from gpuguide_docs.replay.figures import shown_drawing
from gpuguide_docs.show.numbers import NOT_MEASURED, number_node
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide_docs.show.site import Site

__all__ = [
    "AllFindingsDirective",
    "MinutesRole",
    "PageTilesDirective",
    "SectionRowsDirective",
    "finding_in",
    "note_tile",
    "setup",
]

_POWER = re.compile(r"\b(2|10)\^(\d+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class _Tile:
    """What a page contributes to others: minutes, and the sentence with its finding, if it has numbers."""

    minutes: int
    finding: tuple[nodes.Node, ...]


class tile_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Marks where documents read later are quoted: attributes ``what`` and ``pages``, their names."""


def note_tile(env: BuildEnvironment, docname: str, minutes: int, answer: Iterable[nodes.Element]) -> None:
    """Remember what the tiles of a page say."""
    _tiles(env)[docname] = _Tile(minutes, tuple(finding_in(answer)))


def _tiles(env: BuildEnvironment) -> dict[str, _Tile]:
    if not hasattr(env, "gpuguide_tiles"):
        env.gpuguide_tiles = {}  # type: ignore[attr-defined]
    tiles: dict[str, _Tile] = env.gpuguide_tiles  # type: ignore[attr-defined]
    return tiles


def finding_in(answer: Iterable[nodes.Element]) -> list[nodes.Node]:
    """Give the first sentence of an answer that has a measured number."""
    for sentence in (each for paragraph in answer for each in _sentences(paragraph)):
        numbers = [part for part in sentence if isinstance(part, number_node)]
        if numbers and not any("gg-unmeasured" in number["classes"] for number in numbers):
            return [_plain(part) for part in sentence]
    return []


def _sentences(paragraph: nodes.Element) -> Iterator[list[nodes.Node]]:
    sentence: list[nodes.Node] = []
    for part in _parts(paragraph):
        if not isinstance(part, nodes.Text):
            sentence.append(part)
            continue
        *ended, rest = _SENTENCE_END.split(part.astext())
        for words in ended:
            yield [*sentence, nodes.Text(words)]
            sentence = []
        sentence.append(nodes.Text(rest))
    yield sentence


def _parts(node: nodes.Element) -> Iterator[nodes.Node]:
    """Give the texts, literals and numbers of a paragraph; of links, their words."""
    for child in node.children:
        if isinstance(child, nodes.Text | nodes.literal | number_node | nodes.superscript | nodes.math):
            yield child
        elif isinstance(child, nodes.Element) and "evidence" not in child:
            yield from _parts(child)


def _plain(part: nodes.Node) -> nodes.Node:
    if isinstance(part, number_node):
        return nodes.strong("", part.astext())
    return part.deepcopy()


class PageTilesDirective(SphinxDirective):
    """``.. page-tiles::`` with names of pages shows each as a tile."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the tiles; what they quote is filled in once all pages are read."""
        site = site_of(self.env)
        self.env.note_dependency(str(site.layout.pages_toml))
        pages = [site.page(name) for name in " ".join(self.content).split()]
        return [nodes.container("", *(self._tile(site, page) for page in pages), classes=["gg-tiles"])]

    def _tile(self, site: Site, page: Page) -> nodes.container:
        _note(self.env, site, page)
        title = nodes.paragraph("", "", _link(self.env, page.docname, page.title), classes=["gg-tile-title"])
        pictures = [
            nodes.image(uri=uri, alt="", classes=[f"only-{theme}"]) for theme, uri in _pictures(site, page)
        ]
        return nodes.container(
            "",
            *([nodes.container("", *pictures, classes=["gg-tile-picture"])] if pictures else []),
            title,
            tile_node("", what="finding", pages=[page.name]),
            tile_node("", what="about", pages=[page.name]),
            classes=["gg-tile"],
        )


class SectionRowsDirective(SphinxDirective):
    """``.. section-rows::`` lists the sections that have pages, with a finding, minutes and level each."""

    def run(self) -> list[nodes.Node]:
        """Build the rows."""
        site = site_of(self.env)
        self.env.note_dependency(str(site.layout.pages_toml))
        rows = []
        for section in read_sections(site.layout):
            pages = [page for page in site.pages if page.section == section.name and _is_written(site, page)]
            if pages:
                rows.append(self._row(site, section, pages))
        return [nodes.container("", *rows, classes=["gg-section-rows"])]

    def _row(self, site: Site, section: Section, pages: list[Page]) -> nodes.container:
        for page in pages:
            _note(self.env, site, page)
        names = [page.name for page in pages]
        link = _link(self.env, f"gallery/{section.name}/index", section.title)
        return nodes.container(
            "",
            nodes.paragraph("", "", link, classes=["gg-tile-title"]),
            tile_node("", what="finding", pages=names, otherwise=section.summary),
            tile_node("", what="about", pages=names),
            classes=["gg-section-row"],
        )


class AllFindingsDirective(SphinxDirective):
    """``.. all-findings::`` lists, of each page that is measured and claims something, finding and claims."""

    def run(self) -> list[nodes.Node]:
        """Build the list, section by section."""
        site = site_of(self.env)
        self.env.note_dependency(str(site.layout.pages_toml))
        found: list[nodes.Node] = []
        for section in read_sections(site.layout):
            pages = [page for page in site.pages if page.section == section.name and _is_written(site, page)]
            shown = [each for page in pages if (each := self._page(site, page)) is not None]
            if shown:
                found += [nodes.rubric("", section.title, **{"heading-level": 2}), *shown]
        if not found:
            found = [nodes.paragraph("", NOT_MEASURED.capitalize() + ".", classes=["gg-placeholder"])]
        return found

    def _page(self, site: Site, page: Page) -> nodes.container | None:
        _note(self.env, site, page)
        state = site.state(page.name) if page.format == "script" else None
        if state is None or state.shown is None:
            return None
        claims = [claim for claim in site.drawing(state).stated.claims if claim.holds]
        if not claims:
            return None
        items = [nodes.list_item("", nodes.paragraph("", _raised(claim.text))) for claim in claims]
        return nodes.container(
            "",
            nodes.paragraph("", "", _link(self.env, page.docname, page.title), classes=["gg-tile-title"]),
            tile_node("", what="finding", pages=[page.name]),
            # The class says that the build wrote them, figures included.
            nodes.bullet_list("", *items, bullet="*", classes=["gg-claims"]),
            classes=["gg-found"],
        )


class MinutesRole(SphinxRole):
    """``:minutes:`why_gpu``` says how long a page takes to read."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Mark the place."""
        site = site_of(self.env)
        page = site.page(self.text)
        _note(self.env, site, page)
        return [nodes.inline("", "", tile_node("", what="minutes", pages=[page.name]))], []


def _note(env: BuildEnvironment, site: Site, page: Page) -> None:
    """Have this document read again when the page changes, or its recording."""
    env.note_dependency(env.doc2path(page.docname))
    if page.format == "script":
        site.state(page.name, env)


def _raised(claim: str) -> str:
    """Write the sizes in a claim as prose does: its text is also printed, where 2^24 is read everywhere."""
    return _POWER.sub(lambda found: size_words(int(found[1]) ** int(found[2])), claim)


def _is_written(site: Site, page: Page) -> bool:
    return page.source(site.layout).is_file()


def _link(env: BuildEnvironment, docname: str, words: str) -> addnodes.pending_xref:
    return addnodes.pending_xref(
        "",
        nodes.inline("", words),
        refdomain="std",
        reftype="doc",
        reftarget=f"/{docname}",
        refexplicit=True,
        refwarn=True,
        refdoc=env.docname,
    )


def _pictures(site: Site, page: Page) -> Iterator[tuple[str, str]]:
    """Give the picture of a page for each theme: its drawing, or a chart; a page without both has none."""
    layout = site.layout
    name = shown_drawing(page.source(layout).read_text(encoding="utf-8"), layout.docs)
    if name:
        yield from (
            ("light", f"/_static/drawings/{name}.svg"),
            ("dark", f"/_static/drawings/{name}-dark.svg"),
        )
    elif page.format == "script":
        stem = f"/gallery/{page.section}/images/thumb/sphx_glr_{page.name}_thumb"
        yield from (("light", f"{stem}.svg"), ("dark", f"{stem}-dark.svg"))


class Tiles(SphinxPostTransform):
    """Fills in what was not known while the document was read."""

    # Before links are resolved.
    default_priority = 5

    def run(self, **_kwargs: object) -> None:
        """Fill."""
        site, tiles = site_of(self.env), _tiles(self.env)
        for place in list(self.document.findall(tile_node)):
            pages = [site.page(name) for name in place["pages"]]
            known = [tiles[page.docname] for page in pages if page.docname in tiles]
            parent = place.parent
            assert parent is not None, "a directive stands in a document"
            parent.replace(place, _filled(place, pages, known))


def _filled(place: tile_node, pages: list[Page], tiles: list[_Tile]) -> nodes.Node:
    minutes = sum(tile.minutes for tile in tiles)
    if place["what"] == "minutes":
        return nodes.Text(f"{minutes} min")
    if place["what"] == "about":
        count = f"{len(pages)} pages, " if len(pages) > 1 else ""
        return nodes.paragraph("", f"{count}{minutes} min · {_levels(pages)}", classes=["gg-tile-about"])
    found = next((tile.finding for tile in tiles if tile.finding), None)
    words = (
        [each.deepcopy() for each in found]
        if found
        else [nodes.Text(place.get("otherwise", pages[0].question))]
    )
    return nodes.paragraph("", "", *words, classes=["gg-tile-finding"])


def _levels(pages: list[Page]) -> str:
    found = sorted({page.level for page in pages}, key=LEVELS.index)
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _purge(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _tiles(env).pop(docname, None)


def _merge(_app: Sphinx, env: BuildEnvironment, docnames: set[str], other: Any) -> None:
    theirs = _tiles(other)
    _tiles(env).update({name: theirs[name] for name in docnames if name in theirs})


def setup(app: Sphinx) -> None:
    """Register directives, role and transform."""
    app.add_node(tile_node)
    app.add_directive("page-tiles", PageTilesDirective)
    app.add_directive("section-rows", SectionRowsDirective)
    app.add_directive("all-findings", AllFindingsDirective)
    app.add_role("minutes", MinutesRole())
    app.add_post_transform(Tiles)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
