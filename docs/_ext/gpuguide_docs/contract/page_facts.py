"""What the rules of the contract look at: a page with its text and its recording; and what a rule is."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from gpuguide.recordings.recording import Recording
from gpuguide.results.records import VariantInfo
from gpuguide.results.results import Results
from gpuguide_docs.contract.page_source import Documents, PageSource, Use
from gpuguide_docs.pages.pages_toml import Page
from gpuguide_docs.show.numbers import number_node
from gpuguide_docs.show.references import Reference, parse_reference
from gpuguide_docs.show.site import Site

if TYPE_CHECKING:
    from gpuguide_docs.replay.states import PageState

__all__ = [
    "TAUGHT",
    "NotRecordedError",
    "PageFacts",
    "Rule",
    "Violation",
    "alternative_texts",
    "charted_variants",
    "check_captions",
    "shown_code",
]

#: Kinds of pages that teach with code, numbers and an exercise.
TAUGHT = ("tutorial", "case", "clock")
_DIGIT = re.compile(r"\d")


class NotRecordedError(Exception):
    """A rule asked for the recording of a page that has no current one: it waits."""


@dataclass(frozen=True)
class Violation:
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
        ``"C1"`` to ``"C15"``, or a word for what can be neither waived nor unwritten.
    asks : str
        What it asks for, in a few words.
    check : callable
        Takes `PageFacts`, yields messages; without a recording, `NotRecordedError` where it needs one.
    kinds : tuple of str
        Kinds of pages that it holds for.
    recorded : bool
        Whether it looks at the recording: it is then not applied to pages in MyST.
    """

    code: str
    asks: str
    check: Callable[[PageFacts], Iterator[str]]
    kinds: tuple[str, ...] = TAUGHT
    recorded: bool = False

    def holds_for(self, page: Page) -> bool:
        """Tell whether a page is held to this rule."""
        return page.kind in self.kinds and not (self.recorded and page.format == "myst")


class PageFacts:
    """A page whose script or MyST file exists, its text and its recording."""

    def __init__(self, site: Site, page: Page, documents: Documents) -> None:
        self.site = site
        self.page = page
        self.documents = documents

    @property
    def source(self) -> PageSource:
        """The page's text."""
        return self.documents.page(self.page)

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
        return self.site.recording(self.state) if self.page.format == "script" else None

    @property
    def measured(self) -> Recording:
        """The recording, for what cannot be judged without one."""
        if self.recording is None:
            raise NotRecordedError
        return self.recording

    @cached_property
    def references(self) -> list[Reference]:
        """What its measured numbers refer to."""
        return [parse_reference(use.key) for use in self.source.of("measured")]

    @property
    def is_ladder(self) -> bool:
        """Whether it makes one thing faster, rung by rung."""
        return "ladder" in self.page.tags or bool(self.source.of("rungs"))

    @property
    def plots(self) -> list[str]:
        """The code of its charts: drawn cells that do more than state claims and facts."""
        return [use.cell.content for use in self.source.code if use.is_chart]

    def others(self) -> Iterator[PageFacts]:
        """Give the pages before this one that are written."""
        for page in self.site.pages:
            if page.name == self.page.name:
                return
            if page.source(self.site.layout).exists():
                yield PageFacts(self.site, page, self.documents)


def shown_code(kernel: Use) -> str:
    """Give the code that a kernel directive shows."""
    return next(kernel.node.findall(nodes.literal_block)).astext()


def charted_variants(facts: PageFacts) -> Iterator[tuple[Results, list[VariantInfo]]]:
    """Give the studies that drawn cells plot, each with the variants that they name (or all)."""
    for code in facts.plots:
        for call in ast.walk(ast.parse(code)):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("gg.plot_"):
                yield from _plotted(facts, call)


def _plotted(facts: PageFacts, call: ast.Call) -> Iterator[tuple[Results, list[VariantInfo]]]:
    named = facts.measured.names
    used = [node.id for arg in call.args for node in ast.walk(arg) if isinstance(node, ast.Name)]
    chosen = [
        [str(item.value) for item in keyword.value.elts if isinstance(item, ast.Constant)]
        for keyword in call.keywords
        if keyword.arg == "variants" and isinstance(keyword.value, ast.List | ast.Tuple)
    ]
    for name in used:
        if name in named:
            results = facts.measured.studies[named[name]]
            names = chosen[0] if chosen else [info.name for info in results.variants]
            yield results, [results.variant(each) for each in names]


def alternative_texts(facts: PageFacts) -> list[str]:
    """Give what the charts of the page say to those who cannot see them."""
    _ = facts.measured
    drawn = facts.site.drawing(facts.state).outputs
    return [picture.alt for output in drawn if output for picture in output.pictures]


def check_captions(facts: PageFacts) -> Iterator[str]:
    """C7: captions with a measured number; alternative text that names axes and two numbers."""
    captions = {use.key: use.line for use in reversed(facts.source.of("finding"))}
    with_number = {use.key for use in facts.source.of("finding") if _measures(use.node)}
    for caption, line in captions.items():
        if caption not in with_number:
            yield f"line {line}: the caption has no measured number"
    for words in alternative_texts(facts):
        if len(_DIGIT.findall(words)) < 2 or len(words.split()) < 6:
            yield f"alternative text names no axes or fewer than two numbers: {words[:60]!r}"


def _measures(text: nodes.Element) -> bool:
    return any(number["role"] == "measured" for number in text.findall(number_node))
