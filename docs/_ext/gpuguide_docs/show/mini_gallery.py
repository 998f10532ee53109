"""Mini-galleries on reference pages that are read again when the pages that use an object change."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_gallery.directives import MiniGallery

from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.pages.layout import layout_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["NotingMiniGallery", "setup"]

_SEEN = "gpuguide_mini_galleries"


class NotingMiniGallery(MiniGallery):  # type: ignore[misc]
    """sphinx-gallery's directive, which also notes what the document showed."""

    def run(self) -> list[Any]:
        """Note the objects, then show the pages that use them."""
        env = self.state.document.settings.env
        known = _uses(Path(env.srcdir))
        names = [*(self.arguments[0].split() if self.arguments else ()), *self.content]
        noted = env.__dict__.setdefault(_SEEN, {}).setdefault(env.docname, {})
        noted.update({name.strip(): known.get(name.strip(), "") for name in names})
        shown: list[Any] = super().run()
        return shown


def _uses(docs: Path) -> dict[str, str]:
    """Give object -> digest of the pages that use it."""
    path = docs / GALLERY / "backreferences" / "backreferences_all.json"
    everything = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {
        # Folders are left out: where the project lies is not what the page shows.
        name: hashlib.sha256(repr([(page[0], page[3], page[4]) for page in pages]).encode()).hexdigest()
        for name, pages in everything.items()
    }


def _outdated(app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    known = _uses(layout_of(app).docs)
    seen: dict[str, dict[str, str]] = env.__dict__.setdefault(_SEEN, {})
    for gone in seen.keys() - env.found_docs:
        del seen[gone]
    return [
        docname
        for docname, names in seen.items()
        if any(known.get(name, "") != digest for name, digest in names.items())
    ]


def setup(app: Sphinx) -> None:
    """Replace the directive."""
    app.setup_extension("sphinx_gallery.gen_gallery")
    app.add_directive("minigallery", NotingMiniGallery, override=True)
    app.connect("env-get-outdated", _outdated)
