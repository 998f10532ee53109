"""Nothing old stays: generated files without a source, pages without a script, failed environments."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.search import IndexBuilder

from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.pages.pages_toml import read_sections
from gpuguide_docs.replay.section_index import listed_sections
from gpuguide_docs.replay.states import states_of_build
from gpuguide_docs.replay.uses import outdated

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup", "sweep_gallery"]

_PUBLISHED = "gallery-published.json"
_SHAPE = "gpuguide_shape"


def sweep_gallery(layout: Layout, kept_images: Iterable[Path] | None) -> list[Path]:
    """Delete from ``docs/gallery`` what no script accounts for.

    Parameters
    ----------
    layout : Layout
        Where the project lies.
    kept_images : iterable of pathlib.Path or None
        Figures and thumbnails of this build; None before they are known, when images are left alone.

    Returns
    -------
    list of pathlib.Path
        What was deleted. Folders that the extension does not fill are never touched.
    """
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


def _outdated(app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> set[str]:
    return outdated(env, states_of_build(app))


def _rewrite_when_shape_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have every page written again when what other pages show of it changed: titles, order, link targets."""
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
    outdir = Path(app.outdir)
    builder, env = app.builder, app.env
    roots = [GALLERY, *(section.name for section in read_sections(layout_of(app)))]
    docs = [docname for docname in env.found_docs if docname.partition("/")[0] in roots]
    now = {Path(builder.get_outfilename(docname)).relative_to(outdir).as_posix() for docname in docs}  # type: ignore[attr-defined]
    now |= {f"_sources/{docname}.rst.txt" for docname in docs}
    now |= {f"_images/{name}" for _, name in env.images.values()}
    now |= {f"_downloads/{name}" for _, name in env.dlfiles.values()}
    record = Path(app.doctreedir) / _PUBLISHED
    before = set(json.loads(record.read_text(encoding="utf-8"))) if record.is_file() else set()
    written = [path for root in roots for path in (outdir / root).rglob("*.html")]
    on_disk = {path.relative_to(outdir).as_posix() for path in written}
    for name in (before | on_disk) - now:
        (outdir / name).unlink(missing_ok=True)
    record.write_text(json.dumps(sorted(now)), encoding="utf-8")


def _finish(app: Sphinx, exception: Exception | None) -> None:
    failed = exception is not None or (getattr(app, "_fail_on_warnings", False) and app._warncount)
    if failed:
        # Sphinx would take the page that failed for read, and the next build would pass.
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)
    elif app.builder.format == "html":
        _sweep_published(app)


def _forget_words(prune: Callable[[IndexBuilder, Iterable[str]], None]) -> Callable[..., None]:
    """Make Sphinx's search index forget words that no page holds any more, as a clean build would."""

    @functools.wraps(prune)
    def pruned(self: IndexBuilder, docnames: Iterable[str]) -> None:
        prune(self, docnames)
        for words in (self._mapping, self._title_mapping):
            for word in [word for word, pages in words.items() if not pages]:
                del words[word]

    return pruned


def setup(app: Sphinx) -> None:
    """Sweep before and after sphinx-gallery generates its pages, and after the build."""
    if not hasattr(IndexBuilder.prune, "__wrapped__"):
        IndexBuilder.prune = _forget_words(IndexBuilder.prune)  # type: ignore[method-assign]
    app.connect("builder-inited", _sweep_before, priority=30)
    app.connect("builder-inited", _sweep_after, priority=900)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-updated", _rewrite_when_shape_changed)
    app.connect("build-finished", _finish, priority=900)
