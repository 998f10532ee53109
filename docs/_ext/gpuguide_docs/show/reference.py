"""The reference: its pages, its side bar, and what makes a thousand docstrings quick to build."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from docutils import nodes
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx import addnodes
from sphinx_gallery.directives import MiniGallery

from gpuguide_docs.pages.files import file_digest, write_if_changed
from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.pages.layout import Layout, layout_of
from gpuguide_docs.replay.seams import WHILE_DRAWING

if TYPE_CHECKING:
    from jinja2 import Template
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = [
    "Entry",
    "Group",
    "NotingMiniGallery",
    "OneCompilation",
    "changed_reference",
    "groups_of",
    "setup",
    "sweep_stubs",
    "write_stubs",
]

_PAGE = "api/index"
_GROUPS: WeakKeyDictionary[BuildEnvironment, tuple[Group, ...]] = WeakKeyDictionary()
_MINI_GALLERIES = "gpuguide_mini_galleries"


def sweep_stubs(layout: Layout) -> list[Path]:
    """Delete reference pages that were generated for what the reference no longer lists.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    list of pathlib.Path
        What was deleted.
    """
    index = _index(layout)
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    listed = {line.strip() for line in text.splitlines()}
    old = [stub for stub in _stubs(layout) if stub.stem.removeprefix("gpuguide.") not in listed]
    for stub in old:
        stub.unlink()
    return old


def changed_reference(layout: Layout) -> bool:
    """Tell whether what the reference's pages are written from, or which of them there are, changed.

    Parameters
    ----------
    layout : Layout
        Where the project lies.

    Returns
    -------
    bool
        Whether they are to be written.
    """
    stamp = _stamp(layout)
    return not stamp.is_file() or stamp.read_text(encoding="utf-8") != _digest(layout)


def write_stubs(app: Sphinx) -> None:
    """Have autosummary write the pages, unless all is as at the last writing.

    Parameters
    ----------
    app : Sphinx
        The application; ``autosummary_generate`` is False in its configuration.
    """
    layout = layout_of(app)
    sweep_stubs(layout)
    # autosummary imports the whole package, Numba with it: a second that an unchanged build need not pay.
    if not _index(layout).is_file() or not changed_reference(layout):
        return
    from sphinx.ext.autosummary.generate import generate_autosummary_docs

    generate_autosummary_docs([str(_index(layout))], base_path=app.srcdir, app=app)
    write_if_changed(_stamp(layout), _digest(layout))


def _index(layout: Layout) -> Path:
    return layout.docs / "api" / "index.rst"


def _stubs(layout: Layout) -> list[Path]:
    return sorted((layout.docs / "api" / "generated").glob("gpuguide.*.rst"))


def _stamp(layout: Layout) -> Path:
    return layout.cache / "reference.txt"


def _digest(layout: Layout) -> str:
    whole = hashlib.sha256()
    sources = [_index(layout), *sorted((layout.docs / "_templates").rglob("*.rst")), *_stubs(layout)]
    for path in [*sources, *sorted((layout.source / "gpuguide").rglob("*.py"))]:
        whole.update(f"{path.relative_to(layout.root).as_posix()} {file_digest(path)}\n".encode())
    return whole.hexdigest()


class Entry(NamedTuple):
    """An object or module of the reference: its name without the package's, and its page."""

    name: str
    docname: str


class Group(NamedTuple):
    """A section of the reference's index and what it lists."""

    title: str
    entries: tuple[Entry, ...]


def groups_of(env: BuildEnvironment) -> tuple[Group, ...]:
    """Gather what the reference lists, by the sections of its index.

    Parameters
    ----------
    env : BuildEnvironment
        After reading.

    Returns
    -------
    tuple of Group
        In the order of the index; empty where there is no reference.
    """
    if env not in _GROUPS:
        contents = env.tocs.get(_PAGE, nodes.bullet_list())
        _GROUPS[env] = tuple(_group(toctree) for toctree in contents.findall(addnodes.toctree))
    return _GROUPS[env]


def _group(toctree: addnodes.toctree) -> Group:
    section = toctree.parent
    while not isinstance(section, nodes.list_item):
        section = section.parent
    heading = next(section.findall(nodes.reference))
    docnames = [docname for _, docname in toctree["entries"]]
    return Group(heading.astext(), tuple(Entry(_name(docname), docname) for docname in docnames))


def _name(docname: str) -> str:
    return docname.rpartition("/")[2].removeprefix("gpuguide.")


def _offer(app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if pagename.startswith("api/"):
        context["reference_groups"] = groups_of(app.env)


class NotingMiniGallery(MiniGallery):  # type: ignore[misc]
    """sphinx-gallery's directive, which also notes what the document showed."""

    def run(self) -> list[Any]:
        """Note the objects, then show the pages that use them."""
        env = self.state.document.settings.env
        known = _uses(Path(env.srcdir))
        names = [*(self.arguments[0].split() if self.arguments else ()), *self.content]
        noted = env.__dict__.setdefault(_MINI_GALLERIES, {}).setdefault(env.docname, {})
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
    seen: dict[str, dict[str, str]] = env.__dict__.setdefault(_MINI_GALLERIES, {})
    for gone in seen.keys() - env.found_docs:
        del seen[gone]
    return [
        docname
        for docname, names in seen.items()
        if any(known.get(name, "") != digest for name, digest in names.items())
    ]


class OneCompilation(SandboxedEnvironment):
    """An environment whose templates are compiled once for all environments of a process."""

    _compiled: dict[str, Template] = {}  # noqa: RUF012  shared on purpose

    def get_template(self, name: Any, *args: Any, **options: Any) -> Template:
        """Return a template, compiled when first asked for."""
        if name not in self._compiled:
            self._compiled[name] = super().get_template(name, *args, **options)
        return self._compiled[name]


def setup(app: Sphinx) -> None:
    """Write the pages while figures are drawn; take the place of two parts of numpydoc and sphinx-gallery."""
    docscrape_sphinx.SandboxedEnvironment = OneCompilation
    app.setup_extension("sphinx_gallery.gen_gallery")
    app.add_directive("minigallery", NotingMiniGallery, override=True)
    app.connect(WHILE_DRAWING, write_stubs)
    app.connect("env-get-outdated", _outdated)
    app.connect("html-page-context", _offer)
