"""Nothing old stays: generated files without a source, pages without a script, failed environments."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import ENV_PICKLE_FILENAME

from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.pages_toml import read_sections
from gpuguide_docs.replay.section_index import listed_sections

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup", "sweep_gallery"]

# Lies in Sphinx's environment, and is forgotten with it.
_SHAPE = "gpuguide_shape"


def sweep_gallery(layout: Layout, kept_images: Iterable[Path] | None) -> list[Path]:
    """Delete from ``docs/gallery`` what no script accounts for."""
    swept: list[Path] = []
    if not layout.gallery.is_dir():
        return swept
    sections = {section.name for section in read_sections(layout)}
    known: dict[str, set[str]] = {section: set() for section in sections}
    for section, pages in listed_sections(layout):
        known[section.name] = {"index", *(page.name for page in pages if page.format == "script")}
    for folder in sorted(path for path in layout.gallery.iterdir() if path.is_dir()):
        if folder.name in sections:
            swept += _sweep_section(folder, known[folder.name])
        elif (folder / "images" / "thumb").is_dir():
            # Only a section that was renamed or dropped has thumbnails.
            swept.append(folder)
    if kept_images is not None:
        swept += _old_images(layout, set(kept_images))
    for path in swept:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return swept


def _sweep_section(folder: Path, names: set[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and (path.name.split(".")[0] not in names or path.suffix == ".md5"):
            yield path


def _old_images(layout: Layout, kept: set[Path]) -> list[Path]:
    images = [*layout.gallery.glob("*/images/*"), *layout.gallery.glob("*/images/thumb/*")]
    return [path for path in images if path.is_file() and path not in kept]


def _sweep_before(app: Sphinx) -> None:
    # An .md5 that was left behind would make sphinx-gallery skip a page.
    sweep_gallery(layout_of(app), None)


def _sweep_after(app: Sphinx) -> None:
    layout = layout_of(app)
    sweep_gallery(layout, app.gpuguide_gallery.kept)  # type: ignore[attr-defined]
    folder = layout.gallery / "backreferences"
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


def _sweep_published(app: Sphinx) -> None:
    """Delete pages, figures and downloads that an earlier build published and this one does not know."""
    outdir, env = Path(app.outdir), app.env
    known = {Path(app.builder.get_outfilename(docname)) for docname in env.found_docs}  # type: ignore[attr-defined]
    known |= {outdir / "_images" / name for _, name in env.images.values()}
    known |= {outdir / "_downloads" / name for _, name in env.dlfiles.values()}
    folders = [GALLERY, "api", *(section.name for section in read_sections(layout_of(app)))]
    there = [path for folder in folders for path in (outdir / folder).rglob("*.html")]
    there += [path for folder in ("_images", "_downloads") for path in (outdir / folder).rglob("*.*")]
    for path in set(there) - known:
        path.unlink()


def _finish(app: Sphinx, exception: Exception | None) -> None:
    if app._fail_on_warnings and app._warncount:
        # Sphinx would take the page that warned for read, and the next build would pass.
        (Path(app.doctreedir) / ENV_PICKLE_FILENAME).unlink(missing_ok=True)
    elif exception is None and app.builder.format == "html":
        _sweep_published(app)


def setup(app: Sphinx) -> None:
    """Sweep before and after sphinx-gallery generates its pages, and after the build."""
    app.connect("builder-inited", _sweep_before, priority=30)
    # After the gallery (500) and its indexes (600).
    app.connect("builder-inited", _sweep_after, priority=900)
    app.connect("env-updated", _rewrite_when_shape_changed)
    app.connect("build-finished", _finish, priority=900)
