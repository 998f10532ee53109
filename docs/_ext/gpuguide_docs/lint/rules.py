"""The rules, one function each: what is wrong with a page, with its line and what to do about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import Measurement
from gpuguide.results.results import Results
from gpuguide.results.starts import LEAST_STARTS
from gpuguide_docs.lint.figures import find_typed_figures
from gpuguide_docs.lint.prose import Paragraph, markdown_paragraphs, rst_paragraphs, without_markup
from gpuguide_docs.pages.cells import Cell, read_cells

if TYPE_CHECKING:
    from pathlib import Path

    from gpuguide_docs.replay.states import PageState

__all__ = ["PageText", "Problem", "Recorded", "page_problems", "recorded", "typed_figures"]

LEAST_NUMBERS = 6
#: Kinds of pages that teach with code, numbers and an exercise.
TAUGHT = ("tutorial", "case", "clock")
_MEASURED = re.compile(r":measured:`|\{measured\}`")
_EXERCISE = re.compile(r"^(?:#? *\.\. exercise::|```+\{exercise\})\s*(\w+)", re.M)
_EVIDENCE = re.compile(r":evidence:`[^`]*`|\{evidence\}`[^`]*`")
_MARK = "[evidence]"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?!\[evidence\])|(?<=\[evidence\])\s+")
_CHART = re.compile(r"\bplot_\w+\(|\bplt\.")
_CLOCK = re.compile(r"perf_counter|time\.time\(|%timeit|%%time|cupyx\.profiler|cuda\.Event\(")


@dataclass(frozen=True)
class Problem:
    """Something to mend: the line, 0 for the whole page, and a sentence that says what to do."""

    line: int
    message: str


@dataclass(frozen=True)
class PageText:
    """A page as it is written: its kind, its file, the exercises of its entry, and a script's cells."""

    kind: str
    path: Path
    exercises: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()

    @classmethod
    def read(cls, kind: str, path: Path, exercises: tuple[str, ...] = ()) -> PageText:
        """Read a script or a Markdown file; SyntaxError for a script that is not Python."""
        if path.suffix != ".py":
            return cls(kind, path, exercises)
        # Of such a script, sphinx-gallery would make one cell.
        ast.parse(path.read_bytes())
        return cls(kind, path, exercises, read_cells(path))

    @cached_property
    def text(self) -> str:
        """The file."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def paragraphs(self) -> list[Paragraph]:
        """Its prose, without a script's title and question."""
        if self.path.suffix == ".md":
            return markdown_paragraphs(self.text)
        texts = (cell for cell in self.cells[1:] if cell.kind == "text")
        return [part for cell in texts for part in rst_paragraphs(cell.content, cell.lineno)]

    @property
    def numbers(self) -> int:
        """How many measured numbers its prose has."""
        return sum(len(_MEASURED.findall(part.text)) for part in self.paragraphs)

    @property
    def words(self) -> int:
        """Words of prose, folded ones among them; a role is one word."""
        return sum(len(without_markup(part.text, "N").split()) for part in self.paragraphs)

    @property
    def code_lines(self) -> int:
        """Lines of its open cells."""
        return sum(bool(line.strip()) for cell in self.open_cells for line in cell.content.splitlines())

    @property
    def open_cells(self) -> list[Cell]:
        """Recorded cells that readers see without a click."""
        return [cell for cell in self.cells if cell.kind == "recorded" and cell.place == "open"]


def page_problems(page: PageText) -> list[Problem]:
    """Hold a page against the rules for its text, in the order of its lines."""
    rules = [typed_figures(page.paragraphs), _causes(page), _exercises(page), _cells_only_measure(page)]
    if page.kind in TAUGHT:
        rules += [_charts(page), _numbers(page), _first_code(page)]
    return sorted((problem for rule in rules for problem in rule), key=lambda problem: problem.line)


def typed_figures(paragraphs: list[Paragraph]) -> Iterator[Problem]:
    """1. No typed time, rate, speed-up, energy or percentage of one."""
    for part in paragraphs:
        for figure in find_typed_figures(without_markup(part.text), part.line):
            yield Problem(
                figure.line,
                f"typed {figure.kind} {figure.text!r}; write the role measured or claimed, or rule for what "
                "the method lays down",
            )


def _causes(page: PageText) -> Iterator[Problem]:
    """2. A sentence with "because" ends with its evidence, or says "we think"."""
    for part in page.paragraphs:
        marked = _EVIDENCE.sub(lambda match: _MARK + "\n" * match.group().count("\n"), part.text)
        plain = without_markup(marked, "N")
        for sentence in _SENTENCE_END.split(plain):
            if re.search(r"\bbecause\b", sentence, re.I) and not re.search(
                rf"{re.escape(_MARK)}|\bwe\s+think\b", sentence, re.I
            ):
                line = part.line + plain.count("\n", 0, plain.index(sentence))
                yield Problem(
                    line,
                    f"a cause without evidence, {_shortened(sentence)!r}; put :evidence:`count NAME`, "
                    'variant NAME or counter NAME after the sentence, or write "we think"',
                )


def _line(cell: Cell) -> int:
    """Give the first line of a cell that is not blank."""
    return cell.lineno + len(cell.content) - len(cell.content.lstrip("\n"))


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 50 else f"{words[:50].rstrip()}..."


def _charts(page: PageText) -> Iterator[Problem]:
    """3. A chart has its headline in the text cell right above it."""
    for above, cell in pairwise(page.cells):
        is_chart = cell.kind == "drawn" and _CHART.search(cell.content)
        if is_chart and not (above.kind == "text" and ".. headline::" in above.content):
            yield Problem(_line(cell), "a chart without its headline; write .. headline:: in the text above")


def _numbers(page: PageText) -> Iterator[Problem]:
    """4. Six measured numbers in sentences and captions."""
    if page.numbers < LEAST_NUMBERS:
        yield Problem(
            0, f"{page.numbers} measured numbers in the text; a lesson shows at least {LEAST_NUMBERS}"
        )


def _first_code(page: PageText) -> Iterator[Problem]:
    """5. The first code that readers see runs where it is pasted, without this package."""
    first = next(iter(page.open_cells), None)
    if first is None:
        yield Problem(0, "no open code; begin with a cell that readers can paste")
    elif re.search(r"\bgpuguide\b|\bgg\.", first.content):
        yield Problem(
            _line(first),
            "the first code uses gpuguide; put that into a cell that begins with '# record: TITLE'",
        )
    elif not re.search(r"^\s*(import|from) ", first.content, re.M):
        yield Problem(_line(first), "the first code imports nothing; begin it with the imports that it needs")


def _exercises(page: PageText) -> Iterator[Problem]:
    """6. The page shows the exercise of its entry, and a lesson has one: its own, or one of the pool."""
    shown = {match[1]: page.text.count("\n", 0, match.start()) + 1 for match in _EXERCISE.finditer(page.text)}
    for name in page.exercises:
        if name not in shown:
            yield Problem(0, f"exercise {name!r} of the entry is not shown; write .. exercise:: {name}")
    for name, line in shown.items():
        if name not in page.exercises:
            yield Problem(line, f'exercise {name!r} is not in the entry; write exercises = ["{name}"] there')
    if page.kind in TAUGHT and not shown and not page.exercises:
        yield Problem(
            0, 'no exercise; write exercises = ["NAME"] in the entry and show it, .. exercise:: NAME'
        )


@dataclass(frozen=True)
class Recorded:
    """How a page's recording stands: in words, whether a GPU has to run it, and whether that fails."""

    words: str
    needs_gpu: bool = False
    fails: bool = False


def recorded(state: PageState, *, strict: bool = False) -> Recorded:
    """7. A recording is current and, to be published, on three machine starts, unless its page waits."""
    done = False
    if state.recording is None:
        words = "never recorded"
    elif not state.current:
        words = f"out of date: {state.changed_words} changed"
    else:
        n_starts = state.recording.n_starts
        done = n_starts >= LEAST_STARTS
        words = f"current, {n_starts} machine start{'s' if n_starts > 1 else ''}"
    if not done and state.reason:
        return Recorded(f"{words}; waits: {state.reason}", needs_gpu=True)
    if state.reason:
        return Recorded(f"{words}; take 'waits' out of the page's entry", fails=True)
    return Recorded(words, needs_gpu=not done, fails=strict and not done)


def _methods(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}


# What can only be asked of results. Arrays have `get`, and everything countable has `n`.
_CALLED = "|".join(sorted(_methods(Results) | _methods(Ceilings) - {"get"}))
_READ = "|".join(
    name
    for name, value in vars(Measurement).items()
    if isinstance(value, property | cached_property) and name != "n"
)
_ASKED = re.compile(
    rf"gg\.(?:claim|explained|load|plot_\w+)\b|gpuguide\.(?:results|charts|recordings|statements)\b"
    rf"|[\w)\]]+\.(?:{_CALLED})\(|ceilings(?:\(\))?\.get\(|[\w)\]]+\.(?:{_READ})\b(?!\()"
)


def _cells_only_measure(page: PageText) -> Iterator[Problem]:
    """8. A recorded cell does nothing but measure, keep and print: what follows from results is drawn."""
    for cell in (cell for cell in page.cells if cell.kind == "recorded"):
        for match in _ASKED.finditer(cell.content):
            line = cell.lineno + cell.content.count("\n", 0, match.start())
            yield Problem(
                line, f"{match.group()!r} in a recorded cell; move it to a cell that begins with '# draw'"
            )
        clock = _CLOCK.search(cell.content)
        if clock and page.kind not in ("clock", "how_to") and not cell.is_wrong:
            yield Problem(_line(cell), f"{clock.group()!r}; let a study or gg.benchmark take the time")
