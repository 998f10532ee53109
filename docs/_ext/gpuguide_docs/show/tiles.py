"""What other pages say about a page: tiles, rows of sections, all findings, the cheat sheet, and minutes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

from gpuguide.results.units import size_words
from gpuguide_docs.pages.pages_toml import LEVELS, Page
from gpuguide_docs.replay.figures import shown_drawing
from gpuguide_docs.replay.section_index import listed_sections
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.numbers import NOT_MEASURED, number_node
from gpuguide_docs.show.site import link_to, site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.results.records import ClaimResult
    from gpuguide_docs.show.site import Site

__all__ = [
    "AllFindingsDirective",
    "CheatSheetDirective",
    "MinutesRole",
    "PageTilesDirective",
    "RememberDirective",
    "SectionRowsDirective",
    "claim_words",
    "finding_in",
    "minutes_to_read",
    "note_page",
    "note_tile",
    "setup",
]

#: More than that nobody takes home.
MOST_BULLETS = 3
_POWER = re.compile(r"\b(2|10)\^(\d+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class _Tile:
    """What a page contributes: minutes, the sentence with its finding if it has numbers, and its advice."""

    minutes: int
    finding: tuple[nodes.Node, ...]
    remember: tuple[nodes.Element, ...]


class tile_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Marks where documents read later are quoted: attributes ``what`` and ``pages``, their names."""


def note_tile(
    env: BuildEnvironment, document: nodes.Element, minutes: int, answer: Iterable[nodes.Element]
) -> None:
    """Remember what other pages say about this one."""
    boxes = (box for box in document.findall(nodes.admonition) if "gg-remember" in box["classes"])
    bullets = tuple(_plain(bullet) for box in boxes for bullet in box.findall(nodes.list_item))
    _tiles(env)[env.docname] = _Tile(minutes, tuple(finding_in(answer)), bullets)


def _plain(bullet: nodes.Element) -> nodes.Element:
    """Give a bullet as it is printed: without links, and without notes of numbers."""
    parts = (
        # No line ends between a number and its unit.
        nodes.Text(part.astext().replace(" ", "\N{NO-BREAK SPACE}"))
        if isinstance(part, number_node)
        else part.deepcopy()
        for part in _parts(bullet)
    )
    return nodes.list_item("", nodes.paragraph("", "", *parts))


def minutes_to_read(env: BuildEnvironment, page: Page) -> int:
    """Give a page's minutes, known once all pages are read; zero if only some are built."""
    tile = _tiles(env).get(page.docname)
    return tile.minutes if tile else 0


def _tiles(env: BuildEnvironment) -> dict[str, _Tile]:
    if not hasattr(env, "gpuguide_tiles"):
        env.gpuguide_tiles = {}  # type: ignore[attr-defined]
    tiles: dict[str, _Tile] = env.gpuguide_tiles  # type: ignore[attr-defined]
    return tiles


def claim_words(claim: ClaimResult) -> str:
    """Write a claim for prose, with raised figures; it is also printed, where 2^24 is read everywhere."""
    return _POWER.sub(lambda power: size_words(int(power[1]) ** int(power[2])), claim.text)


# The finding of a page ------------------------------------------------------------------------------------


def finding_in(answer: Iterable[nodes.Element]) -> list[nodes.Node]:
    """Give the first sentence of an answer that has a measured number."""
    for sentence in (sentence for paragraph in answer for sentence in _sentences(paragraph)):
        numbers = [part for part in sentence if isinstance(part, number_node)]
        if numbers and not any("gg-unmeasured" in number["classes"] for number in numbers):
            return [
                nodes.strong("", part.astext()) if isinstance(part, number_node) else part.deepcopy()
                for part in sentence
            ]
    return []


def _sentences(paragraph: nodes.Element) -> Iterator[list[nodes.Node]]:
    sentence: list[nodes.Node] = []
    for part in _parts(paragraph):
        if isinstance(part, nodes.Text):
            *ended, rest = _SENTENCE_END.split(part.astext())
            for words in ended:
                yield [*sentence, nodes.Text(words)]
                sentence = []
            sentence.append(nodes.Text(rest))
        else:
            sentence.append(part)
    yield sentence


def _parts(node: nodes.Element) -> Iterator[nodes.Node]:
    """Give the texts, literals and numbers of a paragraph; of links, their words."""
    for child in node.children:
        if isinstance(child, nodes.Text | nodes.literal | number_node | nodes.superscript | nodes.math):
            yield child
        elif isinstance(child, nodes.Element) and "evidence" not in child:
            yield from _parts(child)


# Directives and role --------------------------------------------------------------------------------------


class _PagesDirective(SphinxDirective):
    """A directive about pages; what it quotes is filled in once all of them are read."""

    def _site(self) -> Site:
        site = site_of(self.env)
        self.env.note_dependency(str(site.layout.pages_toml))
        return site

    def _title(self, docname: str, title: str) -> nodes.paragraph:
        link = link_to(self.env.docname, "doc", f"/{docname}", title)
        return nodes.paragraph("", "", link, classes=["gg-tile-title"])

    def _quote(self, what: str, pages: list[Page], **more: str) -> tile_node:
        for page in pages:
            note_page(self.env, page)
        return tile_node("", what=what, pages=[page.name for page in pages], **more)


class PageTilesDirective(_PagesDirective):
    """``.. page-tiles::`` with names of pages shows each as a tile."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the tiles."""
        site = self._site()
        pages = [site.page(name) for name in " ".join(self.content).split()]
        return [nodes.container("", *(self._tile(site, page) for page in pages), classes=["gg-tiles"])]

    def _tile(self, site: Site, page: Page) -> nodes.container:
        tile = nodes.container("", classes=["gg-tile"])
        pictures = [
            nodes.image(uri=uri, alt="", classes=[f"only-{theme}"])
            for theme, uri in _pictures(site, page).items()
        ]
        if pictures:
            tile += nodes.container("", *pictures, classes=["gg-tile-picture"])
        tile += self._title(page.docname, page.title)
        advice = nodes.paragraph("", page.advice, classes=["gg-tile-finding"])
        tile += [advice if page.advice else self._quote("finding", [page]), self._quote("about", [page])]
        return tile


class SectionRowsDirective(_PagesDirective):
    """``.. section-rows::`` lists the sections that have pages, with summary, minutes and level each."""

    def run(self) -> list[nodes.Node]:
        """Build the rows."""
        rows = [
            nodes.container(
                "",
                self._title(f"gallery/{section.name}/index", section.title),
                nodes.paragraph("", section.summary, classes=["gg-tile-finding"]),
                self._quote("about", pages),
                classes=["gg-section-row"],
            )
            for section, pages in listed_sections(self._site().layout)
        ]
        return [nodes.container("", *rows, classes=["gg-section-rows"])]


class AllFindingsDirective(_PagesDirective):
    """``.. all-findings::`` lists, of each page that is measured and claims something, finding and claims."""

    def run(self) -> list[nodes.Node]:
        """Build the list, section by section."""
        site = self._site()
        findings: list[nodes.Node] = []
        for section, pages in listed_sections(site.layout):
            shown = [part for page in pages if page.format == "script" for part in self._page(site, page)]
            if shown:
                findings += [nodes.rubric("", section.title, **{"heading-level": 2}), *shown]
        return findings or [nodes.paragraph("", NOT_MEASURED.capitalize() + ".", classes=["gg-placeholder"])]

    def _page(self, site: Site, page: Page) -> list[nodes.Node]:
        state = site.state(page.name, self.env)
        claims = site.drawing(state).stated.claims if state.shown else ()
        items = [claim_words(claim) for claim in claims if claim.holds]
        if not items:
            return []
        listed = nodes.bullet_list("", bullet="*")
        listed += [nodes.list_item("", nodes.paragraph("", text)) for text in items]
        title = self._title(page.docname, page.title)
        # The finding is a sentence of the lead, which may need the advice before it.
        advice = nodes.paragraph("", page.advice, classes=["gg-tile-finding"])
        parts: list[nodes.Node] = [title, advice, self._quote("finding", [page])]
        parts.append(fold("What was checked", listed))
        return [nodes.container("", *parts, classes=["gg-found"])]


class RememberDirective(SphinxDirective):
    """``.. remember::`` is the box with what to take home from a page, which the cheat sheet collects."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the box; roles work in it."""
        content = self.parse_content_to_nodes()
        bullets = content[0] if len(content) == 1 else None
        if not isinstance(bullets, nodes.bullet_list) or len(bullets) > MOST_BULLETS:
            raise self.error(f"remember: write a list of at most {MOST_BULLETS} bullets, each of them advice")
        return [nodes.admonition("", nodes.title("", "Remember"), bullets, classes=["gg-remember"])]


class CheatSheetDirective(_PagesDirective):
    """``.. cheat-sheet::`` collects what all pages say to remember, section by section."""

    def run(self) -> list[nodes.Node]:
        """Mark the places."""
        sections = listed_sections(self._site().layout)
        sheets = [self._quote("remember", pages, section=section.title) for section, pages in sections]
        return [nodes.container("", *sheets, classes=["gg-sheet"])]


class MinutesRole(SphinxRole):
    """``:minutes:`why_gpu``` says how long a page takes to read."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Mark the place."""
        page = site_of(self.env).page(self.text)
        note_page(self.env, page)
        return [nodes.inline("", "", tile_node("", what="minutes", pages=[page.name]))], []


def note_page(env: BuildEnvironment, page: Page) -> None:
    """Have this document read again when the page changes, or its recording."""
    env.note_dependency(env.doc2path(page.docname))
    if page.format == "script":
        site_of(env).state(page.name, env)


def _pictures(site: Site, page: Page) -> dict[str, str]:
    """Give the picture of a page for each theme: its thumbnail; of a page without cells, its drawing.

    A page that shows no drawing may have one of its own name, for its tile alone.
    """
    layout = site.layout
    stem = f"/gallery/{page.section}/images/thumb/sphx_glr_{page.name}_thumb"
    if page.format != "script":
        source = page.source(layout).read_text(encoding="utf-8")
        name = shown_drawing(source, layout.docs) or shown_drawing(f".. drawing:: {page.name}", layout.docs)
        if not name:
            return {}
        stem = f"/_static/drawings/{name}"
    return {"light": f"{stem}.svg", "dark": f"{stem}-dark.svg"}


# Once all pages are read ----------------------------------------------------------------------------------


class Tiles(SphinxPostTransform):
    """Fills in what was not known while the document was read."""

    # Before links are resolved.
    default_priority = 5

    def run(self, **_kwargs: object) -> None:
        """Fill."""
        site, tiles = site_of(self.env), _tiles(self.env)
        for place in list(self.document.findall(tile_node)):
            pages = [site.page(name) for name in place["pages"]]
            known = {page: tiles[page.docname] for page in pages if page.docname in tiles}
            if place["what"] == "remember":
                place.replace_self(_sheet(self.env.docname, place["section"], known))
            else:
                place.replace_self(_quoted(place, pages, [*known.values()]))


def _sheet(docname: str, section: str, tiles: dict[Page, _Tile]) -> list[nodes.Node]:
    """Give the advice of a section's pages; nothing where there is none yet."""
    pages = []
    for page, tile in tiles.items():
        if tile.remember:
            link = link_to(docname, "doc", f"/{page.docname}", page.title)
            title = nodes.paragraph("", "", link, classes=["gg-sheet-title"])
            bullets = nodes.bullet_list("", *(bullet.deepcopy() for bullet in tile.remember), bullet="*")
            pages.append(nodes.container("", title, bullets, classes=["gg-sheet-page"]))
    if not pages:
        return []
    heading = nodes.rubric("", section, **{"heading-level": 2})
    # A heading stays with what follows it.
    pages[0].insert(0, heading)
    return [nodes.container("", *pages, classes=["gg-sheet-section"])]


def _quoted(place: tile_node, pages: list[Page], tiles: list[_Tile]) -> nodes.Node:
    minutes = sum(tile.minutes for tile in tiles)
    if place["what"] == "minutes":
        return nodes.Text(f"{minutes} min")
    if place["what"] == "about":
        count = f"{len(pages)} pages, " if len(pages) > 1 else ""
        levels = sorted({page.level for page in pages}, key=LEVELS.index)
        words = " to ".join(dict.fromkeys((levels[0], levels[-1])))
        return nodes.paragraph("", f"{count}{minutes} min · {words}", classes=["gg-tile-about"])
    finding = next((tile.finding for tile in tiles if tile.finding), None)
    words_of = finding or [nodes.Text(pages[0].question)]
    return nodes.paragraph("", "", *(part.deepcopy() for part in words_of), classes=["gg-tile-finding"])


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
    app.add_directive("remember", RememberDirective)
    app.add_directive("cheat-sheet", CheatSheetDirective)
    app.add_role("minutes", MinutesRole())
    app.add_post_transform(Tiles)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
