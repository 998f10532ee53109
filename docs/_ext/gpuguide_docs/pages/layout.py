"""Every path that the extension, the recorder and the tests use, from one root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["Layout", "layout_of"]


@dataclass(frozen=True)
class Layout:
    """The folders of a project; the tests build a miniature one."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve())

    @property
    def docs(self) -> Path:
        """Hand-written pages, Sphinx's source folder."""
        return self.root / "docs"

    @property
    def examples(self) -> Path:
        """The page scripts, one folder for each section."""
        return self.root / "examples"

    @property
    def pages_toml(self) -> Path:
        """The one list of sections and pages."""
        return self.examples / "pages.toml"

    @property
    def gallery(self) -> Path:
        """Generated pages; nothing in it is kept by hand."""
        return self.docs / "gallery"

    @property
    def build(self) -> Path:
        """What Sphinx writes."""
        return self.docs / "_build"

    @property
    def source(self) -> Path:
        """The folder to import ``gpuguide`` from."""
        return self.root / "src"

    @property
    def recorded(self) -> Path:
        """The recordings, one folder for each machine and page; a build never writes below it."""
        return self.source / "gpuguide" / "recorded"

    @property
    def findings(self) -> Path:
        """What each page claims, as data; a build writes it, and it is committed with the page."""
        return self.source / "gpuguide" / "findings"

    @property
    def cache(self) -> Path:
        """What may be thrown away at any time: drawn figures, recordings that were read and compared."""
        return self.root / ".cache"

    @property
    def preview(self) -> Path:
        """Drafts made in the simulator, never published."""
        return self.root / ".preview"

    def script(self, section: str, page: str) -> Path:
        """Path of a page's script."""
        return self.examples / section / f"{page}.py"


def layout_of(app: Sphinx) -> Layout:
    """Layout of the project that Sphinx builds: ``gpuguide_root``, else the folder of conf.py."""
    return Layout(Path(app.config.gpuguide_root or app.confdir))
