"""``make check`` as a builder of Sphinx: it reads what changed and writes nothing but its report."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.builders import Builder
from sphinx.builders.html import StandaloneHTMLBuilder

from gpuguide_docs.pages.layout import layout_of
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["BROKEN", "ContractBuilder", "setup"]

#: Exit status when pages break the contract: Sphinx itself has 1 for warnings and 2 for what it cannot build.
BROKEN = 3


class ContractBuilder(Builder):
    """Checks every page against the contract; ``gpuguide_strict`` is for publishing."""

    name = "contract"

    def get_outdated_docs(self) -> Set[str]:
        """Give all documents: the rules are about all pages, whatever changed."""
        return self.env.found_docs

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Give no address, because nothing is written."""
        return ""

    def write_documents(self, docnames: Set[str]) -> None:
        """Check, and print the report."""
        # Only this builder needs what takes time to import.
        from gpuguide_docs.contract.check import check_site, report
        from gpuguide_docs.contract.page_source import Documents

        documents = Documents(self.env, layout_of(self._app))
        reports, others = check_site(site_of(self.env), documents, self._app.parallel)
        if not report(reports, others, strict=self.config.gpuguide_strict):
            self._app.statuscode = BROKEN


def _not_written(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that another builder read since they were written.

    Sphinx compares a page only with its source. If a page was read again for another reason, for example a
    kernel that it shows, other builders would not notice.
    """
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return []
    written = {name: Path(app.builder.get_outfilename(name)) for name in env.all_docs}
    return [
        name
        for name, path in written.items()
        # Sphinx notes when it read a document in microseconds.
        if path.exists() and path.stat().st_mtime_ns // 1000 < env.all_docs[name]
    ]


def setup(app: Sphinx) -> None:
    """Register the builder; the pages that it reads are still to be written by others."""
    app.add_config_value("gpuguide_strict", False, "", bool)
    app.add_builder(ContractBuilder)
    app.connect("env-updated", _not_written)
