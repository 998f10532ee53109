"""The tables of studies in the card of a page, and ``headline``, which says what a chart shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from gpuguide_docs.show.card import download
from gpuguide_docs.show.cells import card_of, fold
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.results.results import Results

__all__ = ["HeadlineDirective", "StudyTables", "download_stem", "setup"]


def download_stem(page: str, study: str) -> str:
    """Name the files in which readers download a study."""
    return f"gallery/downloads/{page}-{study}"


class StudyTables(SphinxTransform):
    """Puts the tables of a page's studies into its card, each folded, with its samples as CSV and JSON."""

    default_priority = 401  # below what the page finds

    def apply(self, **_kwargs: object) -> None:
        """Add them where something is measured."""
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        state = site.state(page.name, self.env) if page and page.format == "script" else None
        if state and state.shown:
            studies = state.shown.studies.items()
            card_of(self.document).extend(_table(state.page, name, results) for name, results in studies)


def _table(page: str, study: str, results: Results) -> nodes.Element:
    html = f'<div class="gg-table-wrap">{results.table().html()}</div>'
    stem = download_stem(page, study)
    files = nodes.paragraph("", "The samples: ")
    files += [download("CSV", f"{stem}.csv"), nodes.Text(" · ")]
    files += download("JSON", f"{stem}.json")
    summary = f"Table: {results.title}, every size"
    table = fold(summary, nodes.raw("", html, format="html"), files, classes=("gg-results",))
    # The downloads find the study by these, and write its files.
    table["page"], table["study"] = page, study
    table["variants"] = [info.name for info in results.variants]
    return table


class HeadlineDirective(SphinxDirective):
    """``.. headline:: TEXT`` stands above a chart or a drawing and says in one line what it shows."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Build the line; roles work in it."""
        words, messages = self.parse_inline(self.arguments[0])
        return [nodes.paragraph("", "", *words, classes=["gg-headline"]), *messages]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.setup_extension("sphinx_design")
    app.add_transform(StudyTables)
    app.add_directive("headline", HeadlineDirective)
