"""Directives of a study: ``results``, its folded table, and ``headline``, what a chart shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError, unknown
from gpuguide_docs.show.card import download
from gpuguide_docs.show.cells import fold
from gpuguide_docs.show.numbers import not_measured
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.results.results import Results

__all__ = ["HeadlineDirective", "ResultsDirective", "download_stem", "setup"]


def download_stem(page: str, study: str) -> str:
    """Name the files in which readers download a study."""
    return f"gallery/downloads/{page}-{study}"


class ResultsDirective(SphinxDirective):
    """``.. results:: STUDY`` shows the table of a study, folded, with its data as CSV and JSON."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show it, or say that it is not measured yet."""
        study, site = self.arguments[0], site_of(self.env)
        page = site.page_of(self.env.docname)
        try:
            state = site.state(page.name if page else "", self.env)
            if state.shown is None:
                return [nodes.paragraph("", "", *not_measured(state), classes=["gg-placeholder"])]
            if study not in state.shown.studies:
                raise unknown("study", study, state.shown.studies)
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"results: {error}") from None
        return [_table(state.page, study, state.shown.studies[study])]


def _table(page: str, study: str, results: Results) -> nodes.Element:
    html = f'<div class="gg-table-wrap">{results.table().html()}</div>'
    stem = download_stem(page, study)
    files = nodes.paragraph("", "The samples: ")
    files += [download("CSV", f"{stem}.csv"), nodes.Text(" · ")]
    files += download("JSON", f"{stem}.json")
    summary = f"Table: {results.title}, every size"
    table = fold(summary, nodes.raw("", html, format="html"), files, classes=("gg-results",))
    table["at_end"] = True
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
    app.add_directive("results", ResultsDirective)
    app.add_directive("headline", HeadlineDirective)
