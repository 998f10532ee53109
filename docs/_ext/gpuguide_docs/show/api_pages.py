"""The reference: its side bar, the pages that use an object, and what makes a thousand docstrings quick."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from docutils import nodes
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.ext.autosummary import import_by_name
from sphinx.ext.autosummary.generate import find_autosummary_in_files
from sphinx_gallery.directives import MiniGallery

import gpuguide
from gpuguide_docs.pages.gallery_settings import GALLERY

if TYPE_CHECKING:
    from jinja2 import Template
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_LONGEST_WAIT_S = 120

__all__ = [
    "Entry",
    "Group",
    "NotingMiniGallery",
    "OneCompilation",
    "groups_of",
    "setup",
]

_PAGE = "api/index"
_GROUPS: WeakKeyDictionary[BuildEnvironment, tuple[Group, ...]] = WeakKeyDictionary()


class Entry(NamedTuple):
    """An object or module of the reference: its name without the package's, and its page."""

    name: str
    docname: str


class Group(NamedTuple):
    """A section of the reference's index and what it lists."""

    title: str
    entries: tuple[Entry, ...]


def groups_of(env: BuildEnvironment) -> tuple[Group, ...]:
    """Gather what the reference lists, by the sections of its index."""
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


def _has_its_own_page(
    _app: Sphinx, what: str, name: str, thing: object, _skip: bool, _options: object
) -> bool | None:
    """Leave public names, which have their own pages, out of a module's page; None: as autodoc decides."""
    module, _ = gpuguide._HOMES.get(name, ("", ""))
    home = f"gpuguide.{module}"
    return True if what == "module" and module and getattr(thing, "__module__", "") == home else None


class NotingMiniGallery(MiniGallery):  # type: ignore[misc]
    """sphinx-gallery's directive; the document is read again when other pages use the objects."""

    def run(self) -> list[Any]:
        """Note the file of each object that sphinx-gallery writes when its pages change, then show them."""
        env = self.state.document.settings.env
        for name in (*" ".join(self.arguments).split(), *self.content):
            path = Path(env.srcdir) / GALLERY / "backreferences" / f"{name.strip()}.examples"
            if not path.exists():
                # Otherwise every build would read the document, because a file that it depends on is missing.
                path.touch()
            env.note_dependency(path)
        shown: list[Any] = super().run()
        return shown


class OneCompilation(SandboxedEnvironment):
    """An environment whose templates are compiled once for all environments of a process."""

    _compiled: dict[str, Template] = {}  # noqa: RUF012  shared on purpose

    def get_template(self, name: Any, *args: Any, **options: Any) -> Template:
        """Return a template, compiled when first asked for."""
        if name not in self._compiled:
            self._compiled[name] = super().get_template(name, *args, **options)
        return self._compiled[name]


def _wait_for_the_stubs(app: Sphinx) -> None:
    """Wait until make has written the pages of the reference, which it does while Sphinx starts.

    The file that ``GPUGUIDE_REFERENCE`` names holds the exit status; without the variable they are there.
    """
    said = Path(os.environ.get("GPUGUIDE_REFERENCE", ""))
    if not said.name:
        return
    end = time.monotonic() + _LONGEST_WAIT_S
    while not said.is_file():
        if time.monotonic() > end:
            raise ExtensionError(f"The reference was not written within {_LONGEST_WAIT_S} s: no {said}.")
        time.sleep(0.02)
    if said.read_text(encoding="utf-8").strip() != "0":
        raise ExtensionError("The reference was not written; why stands above.")


def _import_what_is_listed(app: Sphinx) -> None:
    """Import what a first build reads the docstrings of, so that not each process that reads has to do it.

    The processes draw meanwhile, and this one would wait for them.
    """
    index = Path(app.srcdir) / f"{_PAGE}.rst"
    if app.env.all_docs or not index.is_file():
        return
    for entry in find_autosummary_in_files([index]):
        # What cannot be imported is reported by the page that shows it.
        with suppress(Exception):
            import_by_name(entry.name)


def setup(app: Sphinx) -> None:
    """Offer the side bar; take the place of two parts of numpydoc and sphinx-gallery."""
    # numpydoc makes an environment for each docstring, and each would compile the template again.
    docscrape_sphinx.SandboxedEnvironment = OneCompilation
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx_gallery.gen_gallery")
    app.add_directive("minigallery", NotingMiniGallery, override=True)
    # After drawing was begun (20), and before it is waited for (490).
    app.connect("builder-inited", _import_what_is_listed, priority=25)
    app.connect("builder-inited", _wait_for_the_stubs, priority=900)
    app.connect("html-page-context", _offer)
    app.connect("autodoc-skip-member", _has_its_own_page)
