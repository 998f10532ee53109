"""A page's reST without Sphinx: roles and directives become what a download shows instead of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.directives import body, tables
from docutils.utils import Reporter

from gpuguide_docs.pages.cells import Cell

__all__ = [
    "ExportError",
    "Found",
    "Translation",
    "code_node",
    "markdown_node",
    "page_document",
    "ready_node",
]

_CELL = "page-cell"
_PLAIN_ROLES_TEXT = "code emphasis literal math strong sub subscript sup superscript"
_PLAIN_TEXT = """admonition attention caution code container danger epigraph error figure hint image important
line-block math note pull-quote replace rubric table tip topic warning"""
_DROPPED_TEXT = "byline class index measured-card minigallery raw rst-class tags toctree you-will"
#: Roles and directives of docutils that need no translation, and how those of others are treated.
PLAIN_ROLES = frozenset(_PLAIN_ROLES_TEXT.split())
PLAIN_DIRECTIVES = frozenset(_PLAIN_TEXT.split())
DROPPED = frozenset(_DROPPED_TEXT.split())
NESTED = frozenset(("finding", "grid", "grid-item", "only", "tab-set"))
TITLED = frozenset(("card", "grid-item-card", "seealso", "tab-item", "versionadded", "versionchanged"))
FOLDED = frozenset(("dropdown", "question", "solution"))


class ExportError(ValueError):
    """A page holds what has no place in a download; the message names page and role or directive."""


class markdown_node(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """Inline text that is Markdown already."""


class code_node(nodes.General, nodes.Element):  # noqa: N801
    """A code cell (attribute ``code``)."""


class ready_node(nodes.General, nodes.Element):  # noqa: N801
    """Cells that are made already (attribute ``pieces``)."""


class Found:
    """A directive that a page uses: ``name``, ``argument``, ``options``, ``content`` and line."""

    def __init__(self, directive: Directive) -> None:
        self.name = directive.name
        self.argument = directive.arguments[0] if directive.arguments else ""
        self.options: dict[str, str] = directive.options
        self.content = "\n".join(directive.content)


class Translation:
    """What roles and directives turn into; the defaults keep their text.

    Parameters
    ----------
    page : str
        Name that messages give.
    """

    def __init__(self, page: str) -> None:
        self.page = page

    def role(self, name: str, text: str) -> str:
        """Give Markdown for a role."""
        raise ExportError(f"page {self.page!r}: role {name!r} has no form in a download")

    def directive(self, found: Found) -> list[nodes.Node]:
        """Give nodes for a directive that is not one of docutils' own."""
        raise ExportError(f"page {self.page!r}: directive {found.name!r} has no form in a download")

    def cell(self, cell: Cell) -> list[nodes.Node]:
        """Give nodes for a code cell of the script."""
        return [code_node("", code=cell.content.strip("\n"))]


class _AnyOption(dict[str, Any]):
    """Takes every option as text."""

    def __missing__(self, _name: str) -> Callable[[str | None], str]:
        return lambda value: value or ""


def page_document(cells: Iterable[Cell], translation: Translation) -> nodes.document:
    """Parse a page as one document, its code cells in their places.

    Parameters
    ----------
    cells : iterable of Cell
        Of the page's script.
    translation : Translation
        What roles and directives turn into.

    Returns
    -------
    docutils.nodes.document
        Sections are nested as on the page.

    Raises
    ------
    ExportError
        If the reST is wrong or holds a role or directive without translation.
    """
    listed = list(cells)
    parts = [f".. {_CELL}:: {number}" if cell.is_code else cell.content for number, cell in enumerate(listed)]
    with _Dispatch(translation, listed):
        document: nodes.document = publish_doctree(
            "\n\n".join(parts) + "\n",
            settings_overrides={
                "doctitle_xform": False,
                "file_insertion_enabled": False,
                "report_level": Reporter.SEVERE_LEVEL + 1,
                "halt_level": Reporter.SEVERE_LEVEL + 1,
                "_disable_config": True,
            },
        )
    for message in document.findall(nodes.system_message):
        if message["level"] >= Reporter.WARNING_LEVEL:
            raise ExportError(f"page {translation.page!r}: {message.astext()}")
    return document


class _Dispatch:
    """Replaces docutils' look-up of roles and directives while a page is parsed."""

    def __init__(self, translation: Translation, cells: list[Cell]) -> None:
        self._translation, self._cells = translation, cells

    def __enter__(self) -> None:
        self._saved = directives.directive, roles.role
        directives.directive, roles.role = self._directive, self._role  # type: ignore[assignment]

    def __exit__(self, *_error: object) -> None:
        directives.directive, roles.role = self._saved

    def _directive(
        self, name: str, language: ModuleType, document: nodes.document
    ) -> tuple[type[Directive] | None, list[nodes.system_message]]:
        if name in ("code-block", "sourcecode"):
            return _CodeBlock, []
        if name in ("list-table", "csv-table"):
            return (tables.ListTable if name == "list-table" else tables.CSVTable), []
        if name in PLAIN_DIRECTIVES:
            return self._saved[0](name, language, document)
        translation, cells = self._translation, self._cells

        class Translated(_Translated):
            def run(self) -> list[nodes.Node]:
                return self.translate(translation, cells)

        return Translated, []

    def _role(
        self, name: str, language: ModuleType, lineno: int, reporter: Reporter
    ) -> tuple[Any, list[nodes.system_message]]:
        if name in PLAIN_ROLES or not name:
            return self._saved[1](name, language, lineno, reporter)

        def translated(
            _name: str, rawtext: str, text: str, *_rest: object, **_options: object
        ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
            return [markdown_node(rawtext, self._translation.role(name, text))], []

        return translated, []


class _CodeBlock(body.CodeBlock):
    """``code-block`` with Sphinx's options, which a download has no use for."""

    option_spec: ClassVar[Any] = _AnyOption({"": str})

    def run(self) -> list[nodes.Node]:
        language = self.arguments[0] if self.arguments else "python"
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text, classes=["code", language])]


class _Translated(Directive):
    """Any other directive."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption({"": str})

    def translate(self, translation: Translation, cells: list[Cell]) -> list[nodes.Node]:
        """Turn the directive into nodes."""
        if self.name == _CELL:
            return translation.cell(cells[int(self.arguments[0])])
        if self.name in DROPPED:
            return []
        if self.name in NESTED:
            return self._nested()
        if self.name in TITLED:
            title = nodes.paragraph("", "", nodes.strong("", self._title()))
            return [title, *self._nested()]
        if self.name in FOLDED:
            inside = nodes.container("", *self._nested(), classes=["fold"], summary=self._title())
            return [inside]
        return translation.directive(Found(self))

    def _title(self) -> str:
        default = {"seealso": "See also", "solution": "Solution"}.get(self.name, self.name)
        return self.arguments[0] if self.arguments else default

    def _nested(self) -> list[nodes.Node]:
        node = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, node, match_titles=True)
        return list(node.children)
