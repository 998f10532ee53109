"""What the build adds to every page: the byline and the folded card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from gpuguide_docs.show.card import CARD_ID, card_node, download
from gpuguide_docs.show.minutes import exercise_minutes, reading_of
from gpuguide_docs.show.numbers import NOT_MEASURED, why_unmeasured
from gpuguide_docs.show.references import measured_on
from gpuguide_docs.show.site import site_of
from gpuguide_docs.show.tiles import note_tile

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide_docs.pages.pages_toml import Needs, Page
    from gpuguide_docs.replay.states import PageState
    from gpuguide_docs.show.site import Site

__all__ = [
    "BylineDirective",
    "CardDirective",
    "PageFrame",
    "byline_node",
    "needs_text",
    "setup",
]


class place_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Where a directive asks for the byline or the card (attribute ``what``)."""


class BylineDirective(SphinxDirective):
    """``.. byline::`` puts the byline here instead of under the answer."""

    what = "byline"

    def run(self) -> list[nodes.Node]:
        """Mark the place; the transform fills it."""
        if site_of(self.env).page_of(self.env.docname) is None:
            raise self.error(f"{self.name}: only a page of examples/pages.toml has one")
        return [place_node("", what=self.what)]


class CardDirective(BylineDirective):
    """``.. measured-card::`` puts the card here instead of at the page's end."""

    what = "card"


class PageFrame(SphinxTransform):
    """Frames a listed page: classes for question and answer, byline, card where it measures."""

    default_priority = 400

    def apply(self, **_kwargs: object) -> None:
        """Insert what the page lacks; other documents stay as they are."""
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        section = next(iter(self.document.findall(nodes.section)), None)
        if page is None or section is None:
            return
        self.env.note_dependency(str(site.layout.pages_toml))
        measures = page.format == "script"
        state = site.state(page.name, self.env) if measures else None
        at = _after_answer(section, several=measures)
        # Before byline and card are inserted.
        reading = reading_of(self.document)
        answer = [node for node in section.children if isinstance(node, nodes.paragraph)]
        answer = [node for node in answer if "gg-answer" in node["classes"]]
        note_tile(self.env, self.env.docname, reading.minutes, answer)
        top = [byline_node(site, page, state, reading.minutes)]
        recording = state.shown if state else None
        card = [card_node(page, recording, site.layout)] if recording else []
        # From the end, so that places found before stay right.
        if not self._fill("card", card):
            section.extend(card)
        if not self._fill("byline", top):
            section[at:at] = top

    def _fill(self, what: str, content: list[nodes.Element]) -> bool:
        places = [place for place in self.document.findall(place_node) if place["what"] == what]
        for place in places:
            place.parent.replace(place, content)
        return bool(places)


def _after_answer(section: nodes.section, *, several: bool) -> int:
    """Give the place after the answer; mark question and answer for the style sheet.

    The answer of a script is all paragraphs before the first cell or section, that of a page written by hand
    is one paragraph.
    """
    place, asked, answered = 1, False, False
    for number, node in enumerate(section.children):
        if answered and not several:
            break
        if isinstance(node, nodes.paragraph) and not node["classes"]:
            node["classes"].append("gg-answer" if asked else "gg-question")
            asked, answered, place = True, asked, number + 1
        elif answered and isinstance(node, nodes.container) and "rungs" in node:
            place = number + 1
        elif not isinstance(node, nodes.title | nodes.comment | nodes.Admonition | nodes.system_message):
            break
    return place


def needs_text(needs: Needs) -> str:
    """Say what a page needs."""
    gpus = f"{needs.gpus or 'no'} GPU{'s' if needs.gpus > 1 else ''}"
    memory = [f"{needs.gib:g} GB"] if needs.gpus and needs.gib else []
    return "needs " + ", ".join([gpus, *memory, *needs.extras])


def byline_node(site: Site, page: Page, state: PageState | None, minutes: int) -> nodes.Element:
    """Build the byline: what the page needs, how it was measured, and what can be downloaded."""
    parts = {"needs": _promise(site, page, minutes)}
    if state is not None:
        parts |= {"measured": _measured(state, bool(page.needs.gpus)), "downloads": _downloads(page)}
    line = nodes.paragraph()
    for part, children in parts.items():
        if line.children:
            line += nodes.inline("", " | ", classes=["gg-byline-bar"])
        line += nodes.inline("", "", *children, classes=[f"gg-byline-{part}"])
    return nodes.container("", line, classes=["gg-byline"])


def _promise(site: Site, page: Page, minutes: int) -> Iterator[nodes.Node]:
    beside = exercise_minutes(page)
    exercise = f", exercise{'s' if len(page.exercises) > 1 else ''} {beside} min" if beside else ""
    yield nodes.Text(f"{minutes} min{exercise} · ")
    for number, name in enumerate(page.after):
        yield nodes.Text("after " if number == 0 else ", ")
        yield _page_link(site, site.page(name), page.docname)
    yield nodes.Text(f"{' · ' if page.after else ''}{needs_text(page.needs)}")


def _page_link(site: Site, page: Page, docname: str) -> nodes.Node:
    title = nodes.inline("", page.title)
    if not page.source(site.layout).exists():
        return title
    return addnodes.pending_xref(
        "",
        title,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{page.docname}",
        refexplicit=True,
        refwarn=True,
        refdoc=docname,
    )


def _measured(state: PageState, needs_gpu: bool) -> Iterator[nodes.Node]:
    recording = state.shown
    if recording is None:
        yield nodes.inline("", NOT_MEASURED, classes=["gg-unmeasured"])
        yield nodes.Text(f": {why_unmeasured(state)}")
        return
    checked = any(results.checks for results in recording.studies.values())
    where = measured_on(recording, gpu=needs_gpu)
    yield nodes.Text(f"measured on {where}, {'results checked, ' if checked else ''}")
    yield nodes.reference("", "details", refid=CARD_ID, internal=True)


def _downloads(page: Page) -> Iterator[nodes.Node]:
    yield download("notebook", f"gallery/downloads/{page.name}.ipynb")
    yield nodes.Text(" · ")
    yield download("script", f"gallery/downloads/{page.name}.py")


def setup(app: Sphinx) -> None:
    """Register directives and transform."""
    app.setup_extension("sphinx_design")
    app.add_node(place_node)
    app.add_directive("byline", BylineDirective)
    app.add_directive("measured-card", CardDirective)
    app.add_transform(PageFrame)
