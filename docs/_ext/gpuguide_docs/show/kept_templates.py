"""Templates of the theme, compiled once and kept beside the drawings, since each build compiles them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import FileSystemBytecodeCache

from gpuguide_docs.pages.layout import layout_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def _keep(app: Sphinx) -> None:
    # Builders that write no pages of HTML have none.
    environment = getattr(getattr(app.builder, "templates", None), "environment", None)
    if environment is not None:
        folder = layout_of(app).cache / "templates"
        folder.mkdir(parents=True, exist_ok=True)
        # Jinja asks for the digest of a template's text before it takes what was kept.
        environment.bytecode_cache = FileSystemBytecodeCache(str(folder))


def setup(app: Sphinx) -> None:
    """Connect to Sphinx; called by `gpuguide_docs.extension`."""
    app.connect("builder-inited", _keep)
