"""Directives that show a study: ``results`` (folded table), ``finding`` (caption), ``checks``, ``claims``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import GpuGuideError, unknown
from gpuguide_docs.show.card import download
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.numbers import NOT_MEASURED, why_unmeasured
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results

__all__ = ["ChecksDirective", "ClaimsDirective", "FindingDirective", "ResultsDirective", "download_stem"]


def download_stem(page: str, study: str) -> str:
    """Name the files in which readers download a study."""
    return f"gallery/downloads/{page}-{study}"


class _RecordedDirective(SphinxDirective):
    """A directive that shows something of a recording; its argument may begin with ``page:``."""

    required_arguments = 0
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show it, or say that it is not measured yet."""
        text = self.arguments[0] if self.arguments else ""
        page, _, name = text.rpartition(":")
        site = site_of(self.env)
        here = site.page_of(self.env.docname)
        page = page or (here.name if here else "")
        try:
            state = site.state(page, self.env)
            recording = site.recording(state)
            if recording is None:
                words = nodes.inline("", NOT_MEASURED, classes=["gg-unmeasured"])
                why = nodes.Text(f": {why_unmeasured(state)}")
                return [nodes.paragraph("", "", words, why, classes=["gg-placeholder"])]
            return self.show(page, recording, name)
        except GpuGuideError as error:
            self.env.note_reread()
            raise self.error(f"{self.name}: {error}") from None

    def show(self, page: str, recording: Recording, name: str) -> list[nodes.Node]:
        """Build the nodes from a current recording."""
        raise NotImplementedError


def _study(recording: Recording, name: str) -> Results:
    if name not in recording.studies:
        raise unknown("study", name, recording.studies)
    return recording.studies[name]


class ResultsDirective(_RecordedDirective):
    """``.. results:: STUDY`` shows the table of a study, folded, with its data as CSV and JSON."""

    required_arguments = 1
    optional_arguments = 0

    def show(self, page: str, recording: Recording, name: str) -> list[nodes.Node]:
        """Build the folded table."""
        results = _study(recording, name)
        html = f'<div class="gg-table-wrap">{results.table().html()}</div>'
        stem = download_stem(page, name)
        files = nodes.paragraph(classes=["gg-table-files"])
        files += [nodes.Text("The samples: "), download("CSV", f"{stem}.csv"), nodes.Text(" · ")]
        files += download("JSON", f"{stem}.json")
        summary = f"Table: {results.title}, every size"
        table = fold(summary, nodes.raw("", html, format="html"), files, classes=("gg-results",))
        # The downloads find the study by these, and write its files.
        table["page"], table["study"] = page, name
        table["variants"] = [info.name for info in results.variants]
        return [table]


class ChecksDirective(_RecordedDirective):
    """``.. checks:: STUDY`` says in one line that all results were right, and the largest difference."""

    required_arguments = 1
    optional_arguments = 0

    def show(self, page: str, recording: Recording, name: str) -> list[nodes.Node]:
        """Build the line."""
        return [nodes.paragraph("", _study(recording, name).checks_line(), classes=["gg-checks"])]


class ClaimsDirective(_RecordedDirective):
    """``.. claims::`` lists the sentences that this page claims, and whether each holds in every run."""

    def show(self, page: str, recording: Recording, name: str) -> list[nodes.Node]:
        """Build the list."""
        site = site_of(self.env)
        n_runs = len(recording.provenances)
        holds = "holds" if n_runs == 1 else f"holds in all {n_runs} runs"
        said = {True: holds, False: "does not hold", None: "cannot be decided"}
        items = [
            nodes.list_item("", nodes.paragraph("", f"{claim.text}: {said[claim.holds]}"))
            for claim in site.drawing(site.state(page)).stated.claims
        ]
        return [nodes.bullet_list("", *items, bullet="*", classes=["gg-claims"])] if items else []


class FindingDirective(SphinxDirective):
    """``.. finding::`` is the caption of the chart above it: what it shows, with a measured number."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the caption; roles work in it."""
        self.assert_has_content()
        content = self.parse_content_to_nodes()
        for paragraph in content:
            if isinstance(paragraph, nodes.paragraph):
                paragraph["classes"].append("gg-finding")
                # The code of a chart is folded below it.
                paragraph["caption"] = self.lineno
        return content


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.setup_extension("sphinx_design")
    for name, directive in (
        ("results", ResultsDirective),
        ("checks", ChecksDirective),
        ("claims", ClaimsDirective),
        ("finding", FindingDirective),
    ):
        app.add_directive(name, directive)
