"""The rules that look at a page's entry, text and code: C1 to C4, C8, C12."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterator

from gpuguide.errors import GpuGuideError
from gpuguide_docs.contract_page import PageFacts, Rule
from gpuguide_docs.kernel import shown_source
from gpuguide_docs.module_source import ModuleSource
from gpuguide_docs.page_source import DirectiveUse, Heading, Paragraph
from gpuguide_docs.typed_figures import find_typed_figures

__all__ = ["PARTS", "TEXT_RULES", "kernel_sources", "shown_names"]

#: Parts in their order; the last three of them may be missing for the reasons that C3 names.
PARTS = (
    "idea",
    "bare",
    "predict",
    "code",
    "check",
    "measure",
    "reading",
    "wrong",
    "when-not-to",
    "on-your-gpu",
    "your-turn",
    "next",
)
_OPEN_LINES = 30
_SHARED_WORDS = 8
_CLOCKS = re.compile(
    r"perf_counter|time\.time\(|%timeit|%%time|cupyx\.profiler|cuda\.Event\(|get_elapsed_time"
)


def check_entry(facts: PageFacts) -> Iterator[str]:
    """C1: the entry is complete, agrees with the text, and prerequisites come earlier."""
    page, source = facts.page, facts.source
    names = [each.name for each in facts.site.pages]
    what = "page" if page.format == "myst" else "script"
    if not 1 <= len(page.title.split()) <= 6:
        yield f"the title has {len(page.title.split())} words; 1 to 6 are allowed"
    if not 2 <= len(page.objectives) <= 4:
        yield f"{len(page.objectives)} objectives; 2 to 4 are allowed"
    if page.minutes < 1:
        yield "minutes must be at least 1"
    for key, shown in (("title", source.title), ("question", source.question)):
        if getattr(page, key) != shown:
            yield f"the {what}'s {key} is {shown!r}, its entry says {getattr(page, key)!r}"
    if page.format == "myst" and page.script(facts.site.layout).exists():
        yield "it is written in MyST and has a script, too; delete one of them"
    for earlier in page.after:
        if names.index(earlier) >= names.index(page.name):
            yield f"{earlier!r} must come earlier in pages.toml"


def check_words(facts: PageFacts) -> Iterator[str]:
    """C2: 600 to 1800 words (a how-to 150 to 600), text between two code cells, short open code."""
    low, high = (150, 600) if facts.page.kind == "how_to" else (600, 1800)
    if not low <= facts.source.n_words <= high:
        yield f"{facts.source.n_words} words of prose; {low} to {high} are allowed"
    order = facts.source.order
    pairs = sum(one == two == "code" for one, two in itertools.pairwise(order))
    if pairs:
        yield f"{pairs} times two pieces of code without a sentence between them"
    for use in facts.source.code:
        if use.n_lines > _OPEN_LINES:
            yield f"line {use.cell.lineno}: open code of {use.n_lines} lines; {_OPEN_LINES} are allowed"
    for kernel, code in kernel_sources(facts):
        for definition in code.split("\n\n\n"):
            n_lines = sum(bool(line.strip()) for line in definition.splitlines())
            if n_lines > _OPEN_LINES:
                yield f"line {kernel.line}: shown code of {n_lines} lines; {_OPEN_LINES} are allowed"


def check_parts(facts: PageFacts) -> Iterator[str]:
    """C3: the parts of a page in order; wrong where there is one, your-turn where there are exercises."""
    optional = {"wrong"} | ({"your-turn"} if not facts.page.exercises else set())
    parts = list(dict.fromkeys(facts.source.parts))
    for name in parts:
        if name not in PARTS:
            yield f"there is no part {name!r}; the parts are {', '.join(PARTS)}"
    for name in PARTS:
        if name not in parts and name not in optional:
            yield f"part {name!r} is missing (.. rst-class:: part-{name} before its heading)"
    known = [name for name in parts if name in PARTS]
    if known != sorted(known, key=PARTS.index):
        yield f"the parts stand as {', '.join(known)}"
    if not any("idea" in use.parts for use in facts.source.directive("drawing")):
        yield "part 'idea' has no drawing"
    headings = [heading.text for heading in facts.source.headings]
    if "wrong" in parts and not any(text.startswith("Wrong on purpose: ") for text in headings):
        yield "part 'wrong' needs a heading that begins with 'Wrong on purpose: '"


def check_bare(facts: PageFacts) -> Iterator[str]:
    """C4: a bare cell, without the guide's package, and its output."""
    bare = [use for use in facts.source.code if "bare" in use.parts and use.cell.kind == "recorded"]
    plain = [use for use in bare if "gpuguide" not in use.imports and "gg." not in use.cell.content]
    if not plain:
        yield "no recorded cell in part 'bare' that does without gpuguide"
    elif facts.recording is not None:
        shown = {output.cell for output in facts.recording.cells if output.stdout.strip() or output.html}
        if not any(use.cell.index in shown for use in plain):
            yield "the bare cell prints nothing"


def check_numbers(facts: PageFacts) -> Iterator[str]:
    """C8: six measured numbers of three metrics, one of them where the GPU does not pay."""
    metrics = Counter(_metric(facts, reference) for reference, _ in facts.references)
    if metrics.total() < 6:
        yield f"{metrics.total()} measured numbers; at least 6 are asked for"
    if len(metrics) < 3:
        yield f"{len(metrics)} metrics ({', '.join(metrics)}); at least 3 are asked for"
    if not any("when-not-to" in parts for _, parts in facts.references):
        yield "no measured number in part 'when-not-to'"


def _metric(facts: PageFacts, reference: object) -> str:
    from gpuguide_docs.references import Reference

    assert isinstance(reference, Reference)
    if reference.kind == "fact" and facts.recording is not None and reference.name in facts.recording.facts:
        return f"fact in {facts.recording.facts[reference.name].unit}"
    return reference.metric


def check_links(facts: PageFacts) -> Iterator[str]:
    """C12: glossary terms linked, two links to other pages, nothing shared with another page."""
    linked = {use.target.lower() for use in facts.source.role("term")}
    prose = facts.source.prose.lower()
    for term in facts.terms:
        if re.search(rf"\b{re.escape(term.lower())}s?\b", prose) and term.lower() not in linked:
            yield f"{term!r} is in the glossary and not linked at its first use"
    targets = {use.target for use in facts.source.role("doc", "ref")}
    if len(targets) < 2:
        yield f"{len(targets)} links to other pages; at least 2 are asked for"
    yield from _shared(facts)


def _shared(facts: PageFacts) -> Iterator[str]:
    """Compare with the pages before; the first that has the same is named."""
    seen: dict[str, str] = {}
    for other in facts.others():
        texts = [*(heading.text for heading in other.source.headings), *_long(other)]
        seen = {**{text.lower(): other.page.name for text in texts}, **seen}
    own = _long(facts)
    parts: list[Heading | Paragraph] = [*facts.source.headings, *facts.source.paragraphs]
    for part in parts:
        heading = isinstance(part, Heading)
        if part.text.lower() in seen and (heading or part.text in own):
            what = f"heading {part.text!r}" if heading else "this paragraph"
            yield f"line {part.line}: {what} also stands on page {seen[part.text.lower()]!r}"


def _long(facts: PageFacts) -> list[str]:
    return [each.text for each in facts.source.paragraphs if len(each.text.split()) >= _SHARED_WORDS]


def check_figures(facts: PageFacts) -> Iterator[str]:
    """No typed time, rate, speed-up, energy or percentage of one, in text or in docstrings shown."""
    for figure in find_typed_figures(facts.source.figures):
        yield str(figure)
    if facts.page.format == "script" and facts.source.role("rule"):
        yield "the role rule is for hand-written pages about the method"
    for kernel, code in kernel_sources(facts):
        for figure in find_typed_figures(_comments(code)):
            yield f"line {kernel.line}: in {kernel.argument}: {figure}"


def _comments(code: str) -> list[tuple[int, str]]:
    """Give docstrings and comments of a source."""
    found = [
        (node.lineno, ast.get_docstring(node) or "")
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    lines = enumerate(code.splitlines(), start=1)
    return found + [(number, line.partition("#")[2]) for number, line in lines if "#" in line]


def check_shown(facts: PageFacts) -> Iterator[str]:
    """Each experiment of the source documents is measured, or its code is shown."""
    text = facts.path.read_text(encoding="utf-8") + "".join(code for _, code in kernel_sources(facts))
    for experiment in facts.page.experiments:
        if experiment.key and facts.page.format == "myst":
            yield f"{experiment.id}: a page without a recording cannot measure it ({experiment.key})"
        elif not experiment.key and not (experiment.shown and experiment.shown in text):
            yield f"{experiment.id}: neither measured (key) nor shown ({experiment.shown!r})"


def check_style(facts: PageFacts) -> Iterator[str]:
    """No clock and no fallback in a script; a page of kind clock or how_to has clocks of its own."""
    for use in facts.source.code:
        code, line = use.cell.content, use.cell.lineno
        clock = _CLOCKS.search(code)
        if clock and facts.page.kind not in ("clock", "how_to") and not use.cell.is_wrong:
            yield f"line {line}: {clock.group()!r} on a page that is not of kind 'clock' or 'how_to'"
        try:
            tree = ast.parse(code)
        except SyntaxError as error:
            yield f"line {line}: this code is not Python: {error.msg}"
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Try) and any(isinstance(each, ast.Import) for each in node.body):
                yield f"line {line}: try: import on a page; the package says what is missing"
            if isinstance(node, ast.If) and re.search(r"gpu|cuda", ast.unparse(node.test), re.IGNORECASE):
                yield f"line {line}: if {ast.unparse(node.test)}: a page runs on a GPU"


def kernel_sources(facts: PageFacts) -> Iterator[tuple[DirectiveUse, str]]:
    """Give what the page's kernel directives show.

    Parameters
    ----------
    facts : PageFacts
        Of the page.

    Yields
    ------
    DirectiveUse
        The directive.
    str
        Source; empty where module or name is not known, which the build reports.
    """
    for use in facts.source.directive("kernel"):
        try:
            source = ModuleSource(facts.site.layout.source, use.argument)
            yield use, shown_source(source, shown_names(use) or list(source.names))
        except GpuGuideError:
            yield use, ""


def shown_names(use: DirectiveUse) -> list[str]:
    """Names that a kernel directive shows.

    Parameters
    ----------
    use : DirectiveUse
        The directive.

    Returns
    -------
    list of str
        As its option ``:names:`` gives them.
    """
    return use.options.get("names", "").replace(",", " ").split()


_ALL = ("tutorial", "case", "clock", "how_to", "explanation")
TEXT_RULES = (
    Rule("C1", "complete entry", check_entry, _ALL),
    Rule("C2", "words, open code", check_words, ("tutorial", "case", "clock", "how_to")),
    Rule("C3", "parts in order", check_parts),
    Rule("C4", "bare cell with output", check_bare),
    Rule("C8", "six numbers, three metrics", check_numbers),
    Rule("C12", "terms and links", check_links),
    Rule("figures", "no typed figure", check_figures, _ALL),
    Rule("shown", "the source's code", check_shown, _ALL),
    Rule("style", "no clock, no fallback", check_style, _ALL),
)
