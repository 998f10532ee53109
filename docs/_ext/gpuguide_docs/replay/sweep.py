"""Nothing old stays: pages whose script is gone, uses that ended, environments of builds that failed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import ENV_PICKLE_FILENAME

from gpuguide_docs.pages.layout import layout_of
from gpuguide_docs.replay.section_index import listed_sections

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

# Lies in Sphinx's environment, and is forgotten with it.
_SHAPE = "gpuguide_shape"


def _sweep_pages(app: Sphinx) -> None:
    """Delete what was made of scripts that are gone, on another branch say; Sphinx would read it."""
    layout = layout_of(app)
    known = {
        layout.gallery / section.name / f"{name}.rst"
        for section, pages in listed_sections(layout)
        for name in ("index", *(page.name for page in pages))
    }
    for path in set(layout.gallery.glob("*/*.rst")) - known:
        path.unlink()


def _sweep_uses(app: Sphinx) -> None:
    """Delete the lists of pages that use an object where none does any more."""
    folder = layout_of(app).gallery / "backreferences"
    seen = json.loads((folder / "backreferences_all.json").read_text(encoding="utf-8"))
    for path in folder.glob("*.examples"):
        # Empty ones were only touched, for objects that no page uses.
        if path.stat().st_size and path.name.removesuffix(".examples") not in seen:
            path.unlink()


def _rewrite_when_shape_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have every page written again when what other pages show of it changed: titles, order, link targets."""
    if app.builder.format != "html":
        # Builders share their documents, and this one writes no page.
        return []
    whole = hashlib.sha256()
    for docname in sorted(env.titles):
        whole.update(f"{docname}\n{env.titles[docname].astext()}\n".encode())
        whole.update(f"{env.toctree_includes.get(docname, ())}\n".encode())
    objects = env.domains.python_domain.objects
    for name in sorted(objects):
        whole.update(f"{name} {objects[name].docname} {objects[name].node_id}\n".encode())
    before = env.__dict__.get(_SHAPE)
    env.__dict__[_SHAPE] = whole.hexdigest()
    return [] if before == whole.hexdigest() else sorted(env.found_docs)


def _forget(app: Sphinx, _exception: Exception | None) -> None:
    if app._fail_on_warnings and app._warncount:
        # Sphinx would take the page that warned for read, and the next build would pass.
        (Path(app.doctreedir) / ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app: Sphinx) -> None:
    """Sweep before and after sphinx-gallery generates its pages, and after the build."""
    app.connect("builder-inited", _sweep_pages, priority=30)
    # After the gallery (500).
    app.connect("builder-inited", _sweep_uses, priority=900)
    app.connect("env-updated", _rewrite_when_shape_changed)
    app.connect("build-finished", _forget, priority=900)
