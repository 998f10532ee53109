"""The reader of ``examples/pages.toml``: sections and pages in teaching order, and what each promises."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from gpuguide_docs.pages.layout import Layout

__all__ = [
    "FORMATS",
    "KINDS",
    "LEVELS",
    "Needs",
    "Page",
    "PagesError",
    "Section",
    "read_pages",
    "read_sections",
]

KINDS = ("tutorial", "case", "clock", "how_to", "explanation")
LEVELS = ("beginner", "intermediate", "advanced")
#: A script below ``examples`` with recorded outputs, or a MyST file below ``docs`` that measures nothing.
FORMATS = ("script", "myst")
_MYST_KINDS = ("how_to", "explanation")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class PagesError(ValueError):
    """An entry of ``pages.toml`` is incomplete or wrong; the message names entry, key and what is allowed."""


@dataclass(frozen=True)
class Section:
    """A section of the guide."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True)
class Needs:
    """What a reader's machine must have to run a page."""

    gpus: int
    gib: float = 0
    extras: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page's entry: where it stands and what it promises its readers."""

    section: str
    name: str
    title: str
    question: str
    kind: str
    level: str
    needs: Needs
    objectives: tuple[str, ...]
    after: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    machine: str | None = None
    topic: str = ""
    format: str = "script"
    top_bar: bool = False
    counters: tuple[str, ...] = ()
    waits: str = ""
    advice: str = ""

    @property
    def docname(self) -> str:
        """Sphinx's name of the page; those of scripts are generated below ``gallery``."""
        place = f"{self.section}/{self.name}"
        return place if self.format == "myst" else f"gallery/{place}"

    @property
    def notebook(self) -> str:
        """Path of its notebook among the notebooks of all pages, in the zip and in the branch for Colab."""
        return f"{self.section}/{self.name}.ipynb"

    def script(self, layout: Layout) -> Path:
        """Path of the page's script."""
        return layout.script(self.section, self.name)

    def source(self, layout: Layout) -> Path:
        """Path of the file that the page is written in."""
        if self.format == "myst":
            return layout.docs / self.section / f"{self.name}.md"
        return self.script(layout)


def read_sections(layout: Layout) -> tuple[Section, ...]:
    """Read the sections in their order."""
    return tuple(
        Section(**_checked(entry, _SECTION_KEYS, f"section {number}"))
        for number, entry in enumerate(_document(layout).get("section", []), start=1)
    )


def read_pages(layout: Layout) -> tuple[Page, ...]:
    """Read the pages in teaching order."""
    sections = [section.name for section in read_sections(layout)]
    pages: list[Page] = []
    for number, entry in enumerate(_document(layout).get("page", []), start=1):
        page = _page(entry, number)
        where = f"page {page.name!r}"
        _one_of(page.section, sections, f"{where}: section")
        if page.name in {other.name for other in pages}:
            raise PagesError(f"{where}: the name stands twice in pages.toml; rename one")
        pages.append(page)
    names = [page.name for page in pages]
    for page in pages:
        for earlier in page.after:
            _one_of(earlier, names, f"page {page.name!r}: after")
    return tuple(pages)


def _document(layout: Layout) -> dict[str, Any]:
    try:
        document = tomllib.loads(layout.pages_toml.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PagesError(f"{layout.pages_toml} is missing: it lists the guide's sections and pages") from None
    except ValueError as error:
        raise PagesError(f"{layout.pages_toml} is not valid TOML: {error}") from None
    for key in document:
        _one_of(key, ("section", "page"), "pages.toml: table")
    return document


def _page(entry: Mapping[str, Any], number: int) -> Page:
    where = f"page {entry.get('name', f'number {number}')!r}"
    values = _checked(entry, _PAGE_KEYS, where)
    if not _NAME.fullmatch(values["name"]):
        raise PagesError(f"{where}: name must be lower-case letters, digits and '_'")
    _one_of(values["kind"], KINDS, f"{where}: kind")
    _one_of(values["level"], LEVELS, f"{where}: level")
    _one_of(values.get("format", "script"), FORMATS, f"{where}: format")
    if values.get("format") == "myst" and values["kind"] not in _MYST_KINDS:
        raise PagesError(
            f"{where}: a page of kind {values['kind']!r} shows outputs of a GPU, so it is a script; "
            f"format 'myst' is for kind {' or '.join(_MYST_KINDS)}"
        )
    values["needs"] = Needs(**_checked(values["needs"], _NEEDS_KEYS, f"{where}: needs"))
    values.setdefault("topic", values["name"])
    return Page(**values)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError("a text that is not empty")
    return value


def _count(value: object) -> int:
    # To Python, True is an integer.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("an integer, zero or more")
    return value


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise TypeError("a number, zero or more")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("a list of texts")
    return tuple(_text(item) for item in value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a table")
    return value


_Keys = Mapping[str, tuple[Callable[[object], Any], bool]]  # key -> (reader, whether it must be given)
_SECTION_KEYS: _Keys = dict.fromkeys(("name", "title", "summary"), (_text, True))
_NEEDS_KEYS: _Keys = {
    "gpus": (_count, True),
    "gib": (_amount, False),
    "extras": (_texts, False),
}
_PAGE_KEYS: _Keys = {
    **dict.fromkeys(("section", "name", "title", "question", "kind", "level"), (_text, True)),
    "needs": (_table, True),
    "objectives": (_texts, True),
    **dict.fromkeys(("after", "exercises", "tags", "counters"), (_texts, False)),
    "machine": (_text, False),
    "topic": (_text, False),
    "waits": (_text, False),
    "advice": (_text, False),
    "format": (_text, False),
    "top_bar": (_flag, False),
}


def _checked(entry: Mapping[str, Any], keys: _Keys, where: str) -> dict[str, Any]:
    for key in entry:
        _one_of(key, keys, f"{where}: key")
    missing = [key for key, (_, required) in keys.items() if required and key not in entry]
    if missing:
        raise PagesError(f"{where}: {', '.join(missing)} missing; every entry needs it")
    values = {}
    for key, value in entry.items():
        try:
            values[key] = keys[key][0](value)
        except TypeError as error:
            raise PagesError(f"{where}: {key} must be {error}, and is {value!r}") from None
    return values


def _one_of(value: str, allowed: Mapping[str, Any] | tuple[str, ...] | list[str], where: str) -> None:
    if value in allowed:
        return
    near = difflib.get_close_matches(value, list(allowed), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise PagesError(f"{where}: {value!r} is not one of {', '.join(allowed) or 'none yet'}{hint}")
