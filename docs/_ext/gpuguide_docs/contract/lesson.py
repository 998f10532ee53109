"""What makes a page a lesson: its length, five parts, a bare cell, charted variants, captions, numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from docutils import nodes

from gpuguide_docs.contract.page_facts import (
    PageFacts,
    Rule,
    alternative_texts,
    charted_variants,
    check_captions,
)
from gpuguide_docs.contract.page_source import CodeUse, PageSource, Use
from gpuguide_docs.pages.pages_toml import KINDS
from gpuguide_docs.show.minutes import n_words, open_lines, reading_of
from gpuguide_docs.show.numbers import number_node

__all__ = ["LESSON", "page_sections"]

#: Words of prose, by kind: where good pages of this kind lie.
_WORDS = {
    "tutorial": (700, 1200),
    "clock": (700, 1200),
    "case": (700, 1500),
    "how_to": (150, 600),
    "explanation": (500, 1000),
}
_KERNEL_LINES, _BLOCK_LINES = 25, 40
_PAGE_LINES = {"case": 200}
_OTHER_PAGE_LINES = 140
# These are lengths to aim at; a page that misses one by a little is no worse for it.
_AIR, _AIR_OF_CODE = 0.15, 0.2
_ANSWER_WORDS = 50
_MOST_CHARTS = 2
_RUNGS = (4, 8)
_LEAST_NUMBERS = 6
_NEXT = 2  # one page onward, one sideways


def check_length(facts: PageFacts) -> Iterator[str]:
    """C2: words by the kind of page; open code by kernel, by block and by page."""
    reading, kind = facts.source.reading, facts.page.kind
    low, high = _WORDS[kind]
    if not low * (1 - _AIR) <= reading.words <= high * (1 + _AIR):
        yield f"{reading.words} words; about {low} to {high} are required"
    most = _PAGE_LINES.get(kind, _OTHER_PAGE_LINES)
    if _too_long(reading.code_lines, most):
        yield f"{reading.code_lines} lines of open code; about {most} are allowed"
    for block in _blocks(facts.source):
        if _too_long(block.n_lines, _BLOCK_LINES):
            yield f"line {block.line}: a block of {block.n_lines} lines; about {_BLOCK_LINES} are allowed"
        for name, n_lines in block.definitions:
            if _too_long(n_lines, _KERNEL_LINES):
                yield f"line {block.line}: {name} has {n_lines} lines; about {_KERNEL_LINES} are allowed"


def _too_long(n_lines: int, most: int) -> bool:
    return n_lines > most * (1 + _AIR_OF_CODE)


@dataclass(frozen=True)
class _Block:
    """Code that stands open in one piece: its first line in the script, lines, and those of definitions."""

    line: int
    n_lines: int
    definitions: tuple[tuple[str, int], ...]


def _blocks(source: PageSource) -> Iterator[_Block]:
    rungs = source.of("rung")
    inside = {id(node) for rung in rungs for node in rung.node.findall(nodes.Element)}
    kernels = [use for use in source.of("kernel") if id(use.node) not in inside]
    for use in [*rungs, *(kernel for kernel in kernels if not kernel.folded)]:
        code = [node for node in use.node.findall(nodes.literal_block) if list(open_lines(node))]
        found = (_definitions(node.astext(), {line for line, _ in open_lines(node)}) for node in code)
        yield _Block(
            use.line, reading_of(use.node).code_lines, tuple(each for all_ in found for each in all_)
        )
    for cell in _open_cells(source):
        if not any(rung.line < cell.cell.lineno <= _end_of(rung, source) for rung in rungs):
            code_lines = cell.cell.content.splitlines()
            every = {number for number, line in enumerate(code_lines, start=1) if line.strip()}
            yield _Block(cell.cell.lineno, len(every), tuple(_definitions(cell.cell.content, every)))


def _end_of(rung: Use, source: PageSource) -> int:
    """Give the line of the cell that a rung holds; its own where it has none."""
    holds = any("gg-rung-cell" in node["classes"] for node in rung.node.findall(nodes.container))
    below = (use.cell.lineno for use in source.code if use.cell.lineno > rung.line)
    return next(below, rung.line) if holds else rung.line


def _definitions(code: str, lines: set[int]) -> Iterator[tuple[str, int]]:
    """Give functions, classes and sources of several lines, each with how many of these lines it has."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return  # the rule of style says so
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name, first = node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])
        elif isinstance(node, ast.Assign):
            name, first = ast.unparse(node.targets[0]), node.lineno
        else:
            continue
        yield name, len(lines.intersection(range(first, (node.end_lineno or first) + 1)))


def _open_cells(source: PageSource) -> list[CodeUse]:
    return [use for use in source.code if use.cell.kind == "recorded" and use.cell.place == "open"]


@dataclass(frozen=True)
class _Stop:
    """Something that one meets on the way down a page: its line, its kind, and what it is."""

    line: int
    kind: str
    what: object = None


@dataclass
class _Section:
    """A stretch of a page below one heading; the first has none."""

    heading: str
    stops: list[_Stop]

    def has(self, *kinds: str) -> bool:
        """Tell whether it holds something of these kinds."""
        return any(stop.kind in kinds for stop in self.stops)


_USES = ("rungs", "rung", "kernel", "try", "exercise", "finding", "drawing", "measured")


def _way(source: PageSource) -> list[_Stop]:
    """Give headings, paragraphs, code and directives as they follow one another in the script."""
    found = [_Stop(heading.line, "heading", heading.text) for heading in source.headings]
    found += [_Stop(use.line, use.kind, use) for use in source.of(*_USES)]
    found += [_Stop(passage.line, "text") for passage in source.paragraphs]
    found += [_Stop(use.cell.lineno, use.shown_as, use) for use in source.code]
    return sorted(found, key=lambda stop: stop.line)


def page_sections(source: PageSource) -> list[_Section]:
    """Cut a page at its headings: the title's own section comes first, and holds the answer."""
    sections = [_Section("", [])]
    for stop in _way(source):
        if stop.kind == "heading":
            sections.append(_Section(str(stop.what), []))
        else:
            sections[-1].stops.append(stop)
    return sections


def check_lesson_parts(facts: PageFacts) -> Iterator[str]:
    """C3: answer, bare cell and a try, rungs or cases, result, your turn, next; found by what they hold."""
    source = facts.source
    sections = page_sections(source)
    yield from _answer(facts, sections[0])
    yield from _try_it(source)
    bare = _first(sections, lambda section: section.has("code"))
    turn = _first(sections, lambda section: section.has("exercise"))
    last = len(sections) - 1 if sections[-1].heading.lower().startswith("next") else None
    above = sections if turn is None else sections[: turn + 1]
    result = _last(above, lambda section: section.has("chart") or section.heading.startswith("Result"))
    if result is None:
        yield "no result: a section with one or two charts above the exercise, or 'Result' in its heading"
    if turn is None:
        yield "no section has an exercise (.. exercise:: NAME) for the reader's turn"
    if last is None:
        yield f"the last section is {sections[-1].heading or 'the answer'!r}; a lesson ends with 'Next'"
    else:
        yield from _onward(facts)
    known = [("bare cell", bare), ("result", result), ("exercise", turn), ("Next", last)]
    order = [(name, place) for name, place in known if place is not None]
    for (name, place), (later, where) in pairwise(order):
        if place >= where:
            yield f"the {later} stands in the section of the {name}, or above it"
    steps = [section for section in sections[(bare or 0) + 1 : result] if section.has(*_STEPS)]
    if bare is not None and result is not None and not steps:
        yield "between the bare cell and the result no section has code or a number: no rung, and no case"
    charts = [use for use in source.code if use.is_chart]
    if len(charts) > _MOST_CHARTS:
        lines = ", ".join(str(use.cell.lineno) for use in charts)
        yield f"{len(charts)} charts (lines {lines}); at most {_MOST_CHARTS} are allowed"


#: What a section of a rung or of a case holds at least one of.
_STEPS = ("rung", "code", "folded", "kernel", "measured")


def _first(sections: list[_Section], holds: Callable[[_Section], bool]) -> int | None:
    return next((place for place, section in enumerate(sections) if holds(section)), None)


def _last(sections: list[_Section], holds: Callable[[_Section], bool]) -> int | None:
    back = range(len(sections) - 1, -1, -1)
    return next((place for place in back if holds(sections[place])), None)


def _answer(facts: PageFacts, first: _Section) -> Iterator[str]:
    """Look for the finding with its numbers, and for the table of a ladder."""
    answer = facts.source.answer
    words = sum(map(n_words, answer))
    if not answer:
        yield "no answer: one or two sentences with the finding, right below the question"
    if words > _ANSWER_WORDS * (1 + _AIR):
        yield f"the answer has {words} words; at most {_ANSWER_WORDS} are allowed"
    numbers = [number for node in answer for number in node.findall(number_node)]
    if answer and not any(number["role"] == "measured" for number in numbers):
        yield "the answer has no measured number"
    tables = [stop for stop in first.stops if stop.kind == "rungs"]
    codes = [stop.line for stop in first.stops if stop.kind == "code"]
    if facts.is_ladder and not any(table.line < min(codes, default=table.line + 1) for table in tables):
        yield "a ladder shows its table of rungs (.. rungs:: STUDY) in the answer"


def _try_it(source: PageSource) -> Iterator[str]:
    """Look for the first thing to try, right after the bare cell."""
    way = [stop for stop in _way(source) if stop.kind not in ("end", "stated", "measured")]
    bare = next((place for place, stop in enumerate(way) if stop.kind == "code"), None)
    if bare is None:
        yield "no bare cell: no recorded cell stands open"
    elif bare + 1 == len(way) or way[bare + 1].kind != "try":
        line = way[bare + 1].line if bare + 1 < len(way) else way[bare].line
        yield f"line {line}: right after the bare cell stands the first thing to try (.. try-it::)"


def _onward(facts: PageFacts) -> Iterator[str]:
    last = facts.source.headings[-1].line
    targets = {use.key for use in facts.source.of("doc", "ref") if use.line > last}
    if len(targets) != _NEXT:
        yield f"'Next' leads to {len(targets)} pages; one onward and one sideways are required"


def check_bare_cell(facts: PageFacts) -> Iterator[str]:
    """C4: the first open cell has its own imports, needs nothing of the guide, and has an output."""
    bare = next(iter(_open_cells(facts.source)), None)
    if bare is None:
        yield "no bare cell: no recorded cell stands open"
        return
    line = f"line {bare.cell.lineno}"
    if "gpuguide" in bare.imports or "gg." in bare.cell.content:
        yield f"{line}: the bare cell uses gpuguide"
    if not bare.imports:
        yield f"{line}: the bare cell imports nothing, so it does not run when it is pasted"
    outputs = {output.cell: output for output in facts.measured.cells}
    output = outputs.get(bare.cell.index)
    if output is None or not (output.stdout.strip() or output.shows):
        yield f"{line}: the bare cell prints nothing"


def check_rungs(facts: PageFacts) -> Iterator[str]:
    """C5: each charted variant is named and can be opened; a ladder has four to eight rungs on one clock."""
    if facts.is_ladder:
        yield from _rungs(facts)
    source = facts.source
    rungs = {use.key for use in source.of("rung")}
    shown = {name for use in source.of("kernel") for name in use.node["names"]}
    shown |= rungs | {name for use in source.code for name in _functions(use.cell.content)}
    said = source.said.lower()
    missed: dict[str, None] = {}
    for _, infos in charted_variants(facts):
        for info in infos:
            opened = {info.name, info.source.rpartition(".")[2]} & shown
            if info.source.startswith("gpuguide.") and not opened:
                missed[f"variant {info.name!r} is charted, and nothing on the page opens its code"] = None
            words = {info.name.lower(), info.name.replace("_", " ").lower(), info.label.lower()} - {""}
            # A rung is named by the table and by its section.
            if info.name not in rungs and not any(word in said for word in words):
                missed[f"variant {info.name!r} is charted, and no sentence names it ({info.label})"] = None
    yield from missed


def _rungs(facts: PageFacts) -> Iterator[str]:
    """Count rungs: those on one clock, and right; the table has put the others beside."""
    low, high = _RUNGS
    right = [use for use in facts.source.of("rung") if not use.node["wrong"]]
    if len(right) < low:
        yield f"a ladder of {len(right)} rungs; {low} to {high} are required"
        return
    _ = facts.measured
    for table in facts.source.of("rungs"):
        rows = [row for row in table.node.findall(nodes.row) if "variant" in row]
        n_rungs = sum("gg-beside" not in row["classes"] for row in rows)
        if not low <= n_rungs <= high:
            yield f"line {table.line}: {n_rungs} rungs on one clock; {low} to {high} are required"


def _functions(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def check_charts(facts: PageFacts) -> Iterator[str]:
    """C7: each chart has a caption with a measured number, and a text for those who cannot see it."""
    n_charts = len(facts.plots)
    captions = {use.key for use in facts.source.of("finding")}
    if len(captions) < n_charts:
        yield f"{len(captions)} captions (.. finding::) for {n_charts} charts"
    yield from check_captions(facts)
    if n_charts and not alternative_texts(facts):
        yield "the cells of its charts draw nothing"


def check_numbers(facts: PageFacts) -> Iterator[str]:
    """C8: six measured numbers in sentences and captions."""
    n_numbers = len(facts.source.of("measured"))
    if n_numbers < _LEAST_NUMBERS:
        yield f"{n_numbers} measured numbers in sentences and captions; at least {_LEAST_NUMBERS} are wanted"


def check_pasteable(facts: PageFacts) -> Iterator[str]:
    """Open code runs under the imports that the page shows: none of them is of a module of the guide."""
    if facts.page.kind in ("clock", "how_to"):
        return
    for use in _open_cells(facts.source):
        if re.search(r"^\s*(from|import) gpuguide\.", use.cell.content, re.MULTILINE):
            yield (
                f"line {use.cell.lineno}: an open cell imports a module of gpuguide, so nobody can paste it; "
                "bookkeeping stands in a cell that begins with '# record: TITLE'"
            )


#: Those of `check.RULES` that make a page a lesson.
LESSON = (
    Rule("C2", "words, open code", check_length, KINDS),
    Rule("C3", "five parts", check_lesson_parts),
    Rule("C4", "bare cell with output", check_bare_cell, recorded=True),
    Rule("C5", "variants named, rungs", check_rungs, recorded=True),
    Rule("C7", "charts and captions", check_charts, recorded=True),
    Rule("C8", "six numbers", check_numbers),
    Rule("pasted", "open code can be pasted", check_pasteable, KINDS),
)
