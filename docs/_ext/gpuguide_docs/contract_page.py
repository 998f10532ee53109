"""What a rule of the contract is given, and what it answers with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gpuguide_docs.page_myst import read_myst
from gpuguide_docs.page_source import PageSource, read_page
from gpuguide_docs.references import Reference, parse_reference
from gpuguide_docs.site import Site, shown_recording

if TYPE_CHECKING:
    from pathlib import Path

    from gpuguide.recordings import Recording
    from gpuguide_docs.pages import Page
    from gpuguide_docs.states import PageState

__all__ = ["Finding", "PageFacts", "Rule", "glossary_terms"]

_TERM = re.compile(r"^(?P<term>[A-Za-z0-9][^:`{#|]*)$")


@dataclass(frozen=True)
class Finding:
    """Something that breaks the contract.

    Attributes
    ----------
    page, rule, message : str
        Page or file, the rule's code, and one sentence.
    """

    page: str
    rule: str
    message: str


@dataclass(frozen=True)
class Rule:
    """A rule of the contract.

    Attributes
    ----------
    code : str
        ``"C1"`` to ``"C13"``, or a word for what can never be waived.
    asks : str
        What it asks for, in a few words.
    check : callable
        Takes `PageFacts`, yields messages.
    kinds : tuple of str
        Kinds of pages that it holds for.
    recorded : bool
        Whether it looks at the recording: without a current one it is not applied.
    """

    code: str
    asks: str
    check: Callable[[PageFacts], Iterator[str]]
    kinds: tuple[str, ...] = ("tutorial", "case", "clock")
    recorded: bool = False


class PageFacts:
    """A page, its text and its recording.

    Parameters
    ----------
    site : Site
        Of the project.
    page : Page
        Its entry; its script or MyST file exists.
    """

    def __init__(self, site: Site, page: Page) -> None:
        self.site = site
        self.page = page

    @cached_property
    def source(self) -> PageSource:
        """The page's text."""
        read = read_myst if self.page.format == "myst" else read_page
        return read(self.path)

    @property
    def path(self) -> Path:
        """The file that the page is written in."""
        return self.page.source(self.site.layout)

    @cached_property
    def state(self) -> PageState:
        """How its recording stands; a page in MyST has none."""
        return self.site.state(self.page.name)

    @cached_property
    def recording(self) -> Recording | None:
        """The recording, if it is current."""
        return shown_recording(self.state) if self.page.format == "script" else None

    @property
    def measured(self) -> Recording:
        """The recording, for rules that are only applied to recorded pages."""
        if self.recording is None:
            raise LookupError(f"page {self.page.name!r} has no current recording")
        return self.recording

    @cached_property
    def references(self) -> list[tuple[Reference, tuple[str, ...]]]:
        """What its measured numbers refer to, each with the parts that it stands in."""
        return [(parse_reference(use.text), use.parts) for use in self.source.role("measured")]

    def others(self) -> Iterator[PageFacts]:
        """Give the pages before this one that are written."""
        for page in self.site.pages:
            if page.name == self.page.name:
                return
            if page.source(self.site.layout).exists():
                yield PageFacts(self.site, page)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The terms of the glossary."""
        path = self.site.layout.docs / "glossary.md"
        return glossary_terms(path.read_text(encoding="utf-8")) if path.exists() else ()


def glossary_terms(text: str) -> tuple[str, ...]:
    r"""Read the terms of a glossary.

    Parameters
    ----------
    text : str
        MyST with ``glossary`` directives: terms at the margin, meanings indented.

    Returns
    -------
    tuple of str
        In order.

    Examples
    --------
    >>> glossary_terms(":::{glossary}\nwarp\n  32 threads.\n\ngrid\n  All blocks.\n:::\n")
    ('warp', 'grid')
    """
    terms, inside = [], False
    for line in text.splitlines():
        if line.startswith((":::", "```")):
            inside = "{glossary}" in line
        elif inside and _TERM.match(line):
            terms.append(line.strip())
    return tuple(terms)
