"""The reference: all modules of a topic on one page, and pages that use an object, even when these change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.ext.autosummary.generate import find_autosummary_in_files
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery.directives import MiniGallery

from gpuguide_docs.pages.gallery_settings import GALLERY
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx

__all__ = ["NotingMiniGallery", "TopicModules", "setup", "topic_page"]


class TopicModules(SphinxDirective):
    """``.. topic-modules:: PACKAGE`` documents all modules of a topic, and who uses them."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """Leave the work to autodoc and sphinx-gallery."""
        text = topic_page(self.arguments[0], site_of(self.env).layout.source)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def topic_page(package: str, source: Path) -> str:
    """Write the page of a topic, with the kernels first, because most readers come for them."""
    paths = source.joinpath(*package.split(".")).glob("[!_]*.py")
    names = sorted(path.stem for path in paths if _imports(f"{package}.{path.stem}"))
    names.sort(key=lambda name: name != "kernels")
    lines = [f".. automodule:: {package}", ""]
    for name in names:
        lines += [name, "-" * len(name), "", f".. automodule:: {package}.{name}"]
        # Without names, autodoc would read the docstrings of all that the module imports, too.
        members = ", ".join(_definitions(f"{package}.{name}"))
        lines += [f"   :members: {members}", "   :ignore-module-all:", ""]
        lines += _studies(f"{package}.{name}", source)
    lines += ["Pages that use it", "-----------------", "", ".. minigallery::", ""]
    return "\n".join([*lines, *(f"   {package}.{name}" for name in names), ""])


def _imports(module: str) -> bool:
    """Whether it can be documented here: some need CuPy or Triton as soon as they are imported."""
    try:
        import_module(module)
    except ModuleNotFoundError:
        return False
    return True


def _studies(module: str, source: Path) -> Iterator[str]:
    """Describe the studies of a module by their titles: they are data, and autodoc reads docstrings."""
    path = source.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Study"), _, keywords)):
                given = {word.arg: word.value for word in keywords}
                title = given.get("title")
                words = str(title.value) if isinstance(title, ast.Constant) else name
                yield from (f".. py:data:: {module}.{name}", "", f"   Study: {words}.", "")


def _definitions(module: str) -> list[str]:
    """Name its functions, classes and documented data."""
    analyzer = ModuleAnalyzer.for_module(module)
    documented = [name for owner, name in analyzer.find_attr_docs() if not owner]
    return [name for name in (*documented, *analyzer.tags) if "." not in name and not name.startswith("_")]


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


def _delete_unlisted(app: Sphinx) -> None:
    """Delete the pages of what the index lists no more: Sphinx would warn of each."""
    index = app.srcdir / "api" / "index.rst"
    if not index.exists():
        return
    listed = {entry.name for entry in find_autosummary_in_files([index])}
    for page in app.srcdir.glob("api/generated/*.rst"):
        if page.stem not in listed:
            page.unlink()


def setup(app: Sphinx) -> None:
    """Register the directives, the second in the place of sphinx-gallery's."""
    app.setup_extension("sphinx_gallery.gen_gallery")
    app.add_directive("topic-modules", TopicModules)
    app.add_directive("minigallery", NotingMiniGallery, override=True)
    app.connect("builder-inited", _delete_unlisted)
