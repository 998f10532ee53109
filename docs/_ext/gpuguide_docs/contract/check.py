"""The contract of a page, rule by rule, and the table that ``make check`` prints."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from docutils import nodes
from rich import box
from rich.console import Console
from rich.table import Table

from gpuguide.errors import GpuGuideError
from gpuguide.recordings import store
from gpuguide.recordings.recompute import recompute
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import Measurement
from gpuguide.results.results import Results
from gpuguide.results.starts import LEAST_STARTS, starts_words
from gpuguide.results.units import format_quantity
from gpuguide_docs.contract.lesson import LESSON
from gpuguide_docs.contract.page_facts import (
    TAUGHT,
    NotRecordedError,
    PageFacts,
    Rule,
    Violation,
    shown_code,
)
from gpuguide_docs.contract.page_source import Documents
from gpuguide_docs.contract.typed_figures import find_typed_figures, plain_lines
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.pages.on_all_cores import on_all_cores
from gpuguide_docs.pages.pages_toml import KINDS, Experiment, Page
from gpuguide_docs.show.exercise_pool import find_exercise
from gpuguide_docs.show.minutes import Reading
from gpuguide_docs.show.references import parse_reference, parse_size, resolve
from gpuguide_docs.show.site import Site

__all__ = [
    "NEVER_WAIVED",
    "RULES",
    "PageFacts",
    "PageReport",
    "Rule",
    "Violation",
    "check_page",
    "check_prose",
    "check_site",
    "report",
]

# Shorter paragraphs, such as lead-ins, may stand on several pages.
_SHARED_WORDS = 8
#: Headings that every page may have.
_PART_NAMES = ("Result", "Your turn", "Next")
_SHOWN_LETTERS = 60
_CLOCKS = re.compile(
    r"perf_counter|time\.time\(|%timeit|%%time|cupyx\.profiler|cuda\.Event\(|get_elapsed_time"
)
# If a sample takes longer, three are enough.
_SLOW_S = 0.2
#: How far counted bytes may lie from the declared ones.
_COUNTED_APART = 0.1
NEVER_WAIVED = ("C4", "C8", "C9", "C10")
_MOST_WAIVERS = 2
#: Exercises state what an answer must keep to: at most 30 %, no more than 3 times.
_LIMIT = re.compile(r"typed (?:percentage|speed-up '(?:factor of [^']*|[^']* times)')")
_BY_HAND = "by hand"
_NEEDS_A_GPU = "needs a GPU: a maintainer records this"
_TOO_FEW = f"before it is published, it must be recorded on {LEAST_STARTS}, each in a run of its own"
_SIGNS = {"ok": "+", "fails": "x", "waived": "w", "waits": "?", "unwritten": "u", "": ""}


def check_entry(facts: PageFacts) -> Iterator[str]:
    """C1: the entry is complete, agrees with the text, and prerequisites come earlier."""
    page, source = facts.page, facts.source
    names = [each.name for each in facts.site.pages]
    what = "page" if page.format == "myst" else "script"
    if not 1 <= len(page.title.split()) <= 6:
        yield f"the title has {len(page.title.split())} words; 1 to 6 are allowed"
    if not 2 <= len(page.objectives) <= 4:
        yield f"{len(page.objectives)} objectives; 2 to 4 are allowed"
    for key, shown in (("title", source.title), ("question", source.question)):
        if getattr(page, key) != shown:
            yield f"the {what}'s {key} is {shown!r}, its entry says {getattr(page, key)!r}"
    if page.format == "myst" and page.script(facts.site.layout).exists():
        yield "it has both a MyST file and a script; delete one of them"
    for earlier in page.after:
        if names.index(earlier) >= names.index(page.name):
            yield f"{earlier!r} must come earlier in pages.toml"


def check_sizes(facts: PageFacts) -> Iterator[str]:
    """C6: six sizes over three decades for a sweep, the source's size and dtype among them."""
    for results in facts.measured.studies.values():
        if len(results.sizes) > 2:
            sizes = sorted(results.sizes)
            if len(sizes) < 6 or sizes[-1] < 1000 * sizes[0]:
                span = f"{len(sizes)} sizes from {sizes[0]} to {sizes[-1]}"
                yield f"study {results.name!r} has {span}; six over three decades are required"


def check_claims(facts: PageFacts) -> Iterator[str]:
    """C9: two claims, of two variants each or of a ceiling, true in every run; false with other samples."""
    calls = sum(use.cell.content.count("gg.claim(") for use in facts.source.code)
    if not calls:
        yield "0 claims; at least two are required (gg.claim in a drawn cell)"
        return
    _ = facts.measured
    claims = facts.site.drawing(facts.state).stated.claims
    if len(claims) < 2:
        yield f"{len(claims)} claims; at least two are required"
    for claim in claims:
        if claim.holds is None:
            yield f"claim {claim.text!r} cannot be decided, or holds only in some runs"
        elif not claim.holds:
            yield f"claim {claim.text!r} does not hold"
        elif claim.swapped is not False and claim.unit != "share":
            yield f"claim {claim.text!r} still holds when two variants swap their samples"


def check_gate(facts: PageFacts) -> Iterator[str]:
    """C10: each timed variant passed the gate before and after, and the topic's tests exist."""
    tests = facts.site.layout.root / "tests" / "topics" / f"test_{facts.page.topic}.py"
    if not tests.exists():
        yield f"there is no {tests.relative_to(facts.site.layout.root)}"
    for results in facts.measured.studies.values():
        for name in dict.fromkeys(cell.variant for cell in results.measurements if cell.n):
            checks = [check for check in results.checks if check.variant == name]
            kinds = {check.kind for check in checks}
            if not {"exact", "random"} & kinds or "after" not in kinds:
                done = ", ".join(sorted(kinds)) or "never"
                yield f"{results.name}: {name!r} was timed; it was checked: {done}"
            if not all(check.passed for check in checks):
                yield f"{results.name}: {name!r} failed a check"


def check_exercise(facts: PageFacts) -> Iterator[str]:
    """C11: an exercise that practises the page, its own or one of the pool, shown there."""
    listed = facts.page.exercises
    if facts.page.kind in TAUGHT and not listed:
        yield "no exercise"
    yield from _one_exercise(facts)
    for name in listed:
        try:
            pages = find_exercise(name).pages
        except GpuGuideError as error:
            yield str(error)
            continue
        if facts.page.name not in pages:
            yield f"exercise {name!r} belongs to {', '.join(pages)} by its own entry, not to this page"
    yield from _shown_exercises(facts)


def _one_exercise(facts: PageFacts) -> Iterator[str]:
    listed = facts.page.exercises
    # The page of the pool is no lesson.
    if len(listed) > 1 and facts.page.kind in TAUGHT:
        yield f"{len(listed)} exercises ({', '.join(listed)}); a lesson has one"
    shown = [use.cell.content for use in facts.source.code]
    shown += [shown_code(kernel) for kernel in facts.source.of("kernel")]
    bodies = {body: name for code in shown for name, body in _bodies(code)}
    for name in listed:
        with suppress(GpuGuideError):
            for _, body in _bodies(find_exercise(name).solution):
                if body in bodies:
                    yield f"the answer of exercise {name!r} is on the page: {bodies[body]}"


def _bodies(code: str) -> Iterator[tuple[str, str]]:
    """Give each function with what it does: names are numbered, so that other ones make no difference."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return  # the rule of style says so
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        said = ast.get_docstring(function) is not None
        numbers: dict[str, str] = {}
        for node in [each for part in (function.args, *function.body[said:]) for each in ast.walk(part)]:
            if isinstance(node, ast.Name):
                node.id = numbers.setdefault(node.id, str(len(numbers)))
            elif isinstance(node, ast.arg):
                node.arg = numbers.setdefault(node.arg, str(len(numbers)))
        yield function.name, "\n".join(map(ast.dump, (function.args, *function.body[said:])))


def _shown_exercises(facts: PageFacts) -> Iterator[str]:
    uses = facts.source.of("exercise")
    shown = [use.key for use in uses]
    for name in facts.page.exercises:
        if name not in shown:
            yield f"exercise {name!r} is listed but not shown (.. exercise:: {name})"
    for use in uses:
        if use.key not in facts.page.exercises:
            yield f"line {use.line}: exercise {use.key!r} is shown but not listed in pages.toml"
        if shown.count(use.key) > 1:
            yield f"line {use.line}: exercise {use.key!r} is shown {shown.count(use.key)} times"


def check_links(facts: PageFacts) -> Iterator[str]:
    """C12: two links to other pages, nothing shared with another page; the build links glossary terms."""
    targets = {use.key for use in facts.source.of("doc", "ref")}
    if len(targets) < 2:
        yield f"{len(targets)} links to other pages; at least 2 are required"
    yield from _shared(facts)


def _shared(facts: PageFacts) -> Iterator[str]:
    """Compare with the pages before; the first that has the same is named."""
    seen: dict[str, str] = {}
    for other in facts.others():
        texts = [*(heading.text for heading in other.source.headings), *_long(other)]
        seen = {**{text.lower(): other.page.name for text in texts}, **seen}
    own = _long(facts)
    for part in [*facts.source.headings, *facts.source.paragraphs]:
        heading = part in facts.source.headings
        if heading and part.text in _PART_NAMES:
            continue
        if part.text.lower() in seen and (heading or part.text in own):
            what = f"heading {part.text!r}" if heading else "this paragraph"
            yield f"line {part.line}: {what} is also on page {seen[part.text.lower()]!r}"


def _long(facts: PageFacts) -> list[str]:
    return [each.text for each in facts.source.paragraphs if len(each.text.split()) >= _SHARED_WORDS]


def check_needs(facts: PageFacts) -> Iterator[str]:
    """C13: peak memory and time within what the entry says."""
    provenance, needs = facts.measured.provenance, facts.page.needs
    # Where a page needs no GPU, what was seen there is the context that the recorder's clock opened.
    if needs.gpus and provenance.peak_memory_bytes and provenance.peak_memory_bytes > needs.gib * 2**30:
        used = provenance.peak_memory_bytes / 2**30
        yield f"the run used {used:.1f} GiB of GPU memory, needs says {needs.gib:g}"
    if provenance.run_time_s and provenance.run_time_s > 60 * facts.source.reading.minutes:
        yield f"the run took {provenance.run_time_s:.0f} s, longer than reading the page"


def check_evidence(facts: PageFacts) -> Iterator[str]:
    """C14: each cause has its evidence, and what was counted or measured is linked."""
    for passage in facts.source.paragraphs:
        for sentence in passage.bare_causes:
            yield (
                f"line {passage.line}: a cause without evidence, {_shortened(sentence)!r}; "
                "write :evidence:`count NAME`, variant, counter or opinion after it"
            )
    for use in facts.source.of("evidence"):
        if use.node["of"] and use.node["shown"] and not list(use.node.findall(nodes.reference)):
            what = "its row" if use.node["evidence"] == "counter" else "its code, or its row"
            yield f"line {use.line}: evidence {use.key!r} leads nowhere; show {what} on this page"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS].rstrip()}..."


def check_shown(facts: PageFacts) -> Iterator[str]:
    """Each experiment of the source documents is measured, or its code is shown."""
    text = facts.path.read_text(encoding="utf-8") + "".join(map(shown_code, facts.source.of("kernel")))
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


def _methods(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}


#: What can only be asked of results. Arrays have `get`, and everything countable has `n`.
_ASKED = _methods(Results) | _methods(Ceilings) - {"get"}
_PROPERTIES = (property, cached_property)
_READ = {name for name, value in vars(Measurement).items() if isinstance(value, _PROPERTIES)} - {"n"}
_STATED = re.compile(r"gg\.(claim|explained|load|plot_\w+)")
_ABOVE = ("gpuguide.results.", "gpuguide.charts.", "gpuguide.recordings.", "gpuguide.statements.")


def check_recorded_cells(facts: PageFacts) -> Iterator[str]:
    """No recorded cell asks results anything: what follows from them is stated in drawn cells."""
    if facts.page.format == "myst":
        return
    cells = [use.cell for use in facts.source.code if use.cell.kind == "recorded"]
    for cell in cells:
        try:
            tree = ast.parse(cell.content)
        except SyntaxError:
            continue  # the rule of style says so
        for node in ast.walk(tree):
            asked = _question(node)
            if asked:
                line = cell.lineno + node.lineno - 1  # type: ignore[attr-defined]
                yield f"line {line}: {asked} in a recorded cell; put it into a cell that begins with '# draw'"


def _question(node: ast.AST) -> str:
    """Say what a piece of code asks of results, or which module it takes for that; else nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [package + alias.name for alias in node.names]
        return next((name for name in names if f"{name}.".startswith(_ABOVE)), "")
    if isinstance(node, ast.Attribute):
        whole = ast.unparse(node)
        return whole if _STATED.fullmatch(whole) or node.attr in _READ else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, owner = node.func.attr, ast.unparse(node.func.value)
        of_ceilings = name == "get" and owner.endswith(("ceilings", "machine_ceilings()"))
        return f"{owner}.{name}()" if name in _ASKED or of_ceilings else ""
    return ""


def check_figures(facts: PageFacts) -> Iterator[str]:
    """No typed time, rate, speed-up, energy or percentage of one, in text or in docstrings shown."""
    for figure in find_typed_figures(facts.source.figures):
        yield str(figure)
    if facts.page.format == "script" and facts.source.of("rule"):
        yield "the role rule is for hand-written pages about the method"
    for kernel in facts.source.of("kernel"):
        for figure in find_typed_figures(_comments(shown_code(kernel))):
            yield f"line {kernel.line}: in {kernel.key}: {figure}"


def _comments(code: str) -> list[tuple[int, str]]:
    """Give docstrings and comments of a source."""
    found = [
        (node.lineno, ast.get_docstring(node) or "")
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    lines = enumerate(code.splitlines(), start=1)
    return found + [(number, line.partition("#")[2]) for number, line in lines if "#" in line]


def check_references(facts: PageFacts) -> Iterator[str]:
    """Each measured number resolves."""
    for use in facts.source.of("problem"):
        yield f"line {use.line}: {use.key}"


def check_one_run(facts: PageFacts) -> Iterator[str]:
    """All numbers of a page come from its own run; one written by hand has none, and compares pages."""
    if facts.page.format == "myst":
        return
    for reference in facts.references:
        if reference.page not in ("", facts.page.name):
            yield f"a number of page {reference.page!r}; numbers of one page come from one run"


def check_samples(facts: PageFacts) -> Iterator[str]:
    """No quick or reduced run stands behind a page."""
    for results in facts.measured.studies.values():
        if results.quick:
            yield f"study {results.name!r} is a quick run; record it in full"
        for cell in results.measurements:
            # After a batch of launches the clock waits for their work, so that is what a sample costs.
            paid = results.measurement(cell.variant, cell.size) if cell.clock == "launch" else cell
            if cell.clock != "first_call" and 0 < cell.n < _wanted_samples(paid):
                yield f"{results.name}: {cell.variant!r} at {cell.size} has only {cell.n} samples"


def _wanted_samples(cell: Measurement) -> int:
    """One from each of five rounds, and three where a sample is slow: the budget ends a cell no sooner."""
    return 3 if max(cell.samples_ns, default=0) / 1e9 > _SLOW_S else 5


def check_recomputed(facts: PageFacts) -> Iterator[str]:
    """Ceilings, facts and tables follow from the raw samples, in what is stored."""
    shown = facts.measured
    # A fact is shown as it stands over all runs; the samples beside it are those of the newest.
    stored = store.read(shown.folder) if shown.runs and shown.folder else shown
    yield from recompute(stored)


def check_counted(facts: PageFacts) -> Iterator[str]:
    """C15: counted bytes are those that the variant declares, where the caches cannot keep them."""
    shown = facts.measured
    cached = 4 * (shown.provenance.l2_bytes or 0)
    for cell in shown.counters:
        traffic = shown.studies[cell.study].measurement(cell.variant, cell.size).traffic
        if traffic is None or traffic.bytes_total <= cached or "dram_bytes" not in cell.names:
            continue
        counted, declared = cell.value("dram_bytes"), traffic.bytes_total
        if abs(counted - declared) > _COUNTED_APART * declared:
            yield (
                f"{cell.study}[{cell.variant}, {cell.size}] declares {format_quantity(declared, 'B')}, and "
                f"{format_quantity(counted, 'B')} were counted; correct its traffic, or say why on the page "
                f"and waive this rule with that reason"
            )


def check_experiments(facts: PageFacts) -> Iterator[str]:
    """Each experiment of the source documents that is measured has its size and dtype."""
    for experiment in facts.page.experiments:
        try:
            problem = _experiment(facts, experiment) if experiment.key else ""
        except GpuGuideError as error:
            problem = str(error)
        if problem:
            yield f"{experiment.id}: {problem}"


def _experiment(facts: PageFacts, experiment: Experiment) -> str:
    reference = parse_reference(experiment.key)
    if reference.page not in ("", facts.page.name):
        return f"its key names another page, {reference.page!r}"
    resolve(reference, facts.measured)
    if not experiment.size or reference.kind == "fact":
        return ""
    results, size = facts.measured.studies[reference.name], parse_size(experiment.size)
    if reference.kind == "cell" and reference.size < size:
        return f"measured at {reference.size}, the source has {size}"
    if experiment.dtype and results.dtype != experiment.dtype:
        return f"measured in {results.dtype}, the source has {experiment.dtype}"
    return ""


#: Those with a number can be waived or named as unwritten.
RULES = (
    *LESSON,
    Rule("C1", "complete entry", check_entry, KINDS),
    Rule("C6", "sizes of a sweep", check_sizes, recorded=True),
    Rule("C9", "claims", check_claims, recorded=True),
    Rule("C10", "gate", check_gate, recorded=True),
    Rule("C11", "exercise", check_exercise, KINDS),
    Rule("C12", "links, no shared text", check_links),
    Rule("C13", "memory and time", check_needs, KINDS, recorded=True),
    Rule("C14", "causes with evidence", check_evidence, KINDS),
    Rule("shown", "the source's code", check_shown, KINDS),
    Rule("style", "no clock, no fallback", check_style, KINDS),
    Rule("recorded", "only measures", check_recorded_cells, KINDS),
    Rule("figures", "no typed figure", check_figures, KINDS),
    Rule("numbers", "numbers resolve", check_references, KINDS, recorded=True),
    Rule("one run", "one run id", check_one_run, KINDS),
    Rule("samples", "a full run", check_samples, KINDS, recorded=True),
    Rule("recomputed", "follows from samples", check_recomputed, KINDS, recorded=True),
    Rule("C15", "declared bytes counted", check_counted, KINDS, recorded=True),
    Rule("experiments", "the source's sizes", check_experiments, KINDS, recorded=True),
)
_NUMBERED = tuple(f"C{number}" for number in range(1, 16))
_WORDS = tuple(dict.fromkeys(rule.code for rule in RULES if rule.code not in _NUMBERED))


@dataclass
class PageReport:
    """The result for one page.

    Attributes
    ----------
    page : str
        Its name.
    status : str
        Of its recording; ``"by hand"`` for a page that has none.
    marks : dict of str to str
        Rule -> ``"ok"``, ``"fails"``, ``"waived"``, ``"unwritten"`` or ``"waits"`` (for a recording).
    violations : list of Violation
        What must be corrected.
    waived : list of str
        Rules not held, with the reasons given.
    lacking : str
        Why there is no current recording; empty where there is one.
    too_few : str
        The number of machine starts it was recorded on, in words, if that is too few for publishing.
    draft : str
        What a draft names as unwritten; empty for a page that is none.
    unwritten : list of Violation
        What the rules say that it names.
    excused : bool
        Whether the page's entry says why it waits.
    evidence : list of str
        What its causes rest on, in order.
    reading : Reading
        What there is to read.
    """

    page: str
    status: str
    marks: dict[str, str] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    waived: list[str] = field(default_factory=list)
    lacking: str = ""
    too_few: str = ""
    draft: str = ""
    unwritten: list[Violation] = field(default_factory=list)
    excused: bool = False
    evidence: list[str] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)


def check_page(site: Site, page: Page, documents: Documents) -> PageReport:
    """Check one page against the contract; rules that need a recording wait if there is none."""
    source = page.source(site.layout)
    if not source.exists():
        missing = Violation(page.name, "C1", f"{source.relative_to(site.layout.root)} is missing")
        return PageReport(page.name, f"no {page.format}", violations=[missing])
    facts = PageFacts(site, page, documents)
    if page.format == "myst":
        report = PageReport(page.name, _BY_HAND)
    else:
        try:
            report = _recorded_report(facts)
        except GpuGuideError as error:
            return PageReport(
                page.name, "damaged", violations=[Violation(page.name, "recording", str(error))]
            )
    report.violations += [*_waivers(page), *_unknown_unwritten(page)]
    rules = sorted((rule for rule in RULES if rule.holds_for(page)), key=_place)
    report.draft = ", ".join(f"{rule.code} ({rule.asks})" for rule in rules if rule.code in page.unwritten)
    for rule in rules:
        report.marks[rule.code] = _apply(rule, facts, report)
    report.reading = facts.source.reading
    report.evidence = [f"{use.key} (line {use.line})" for use in facts.source.of("evidence")]
    return report


def _place(rule: Rule) -> int:
    return (*_NUMBERED, *_WORDS).index(rule.code)


def _recorded_report(facts: PageFacts) -> PageReport:
    state = facts.state
    report = PageReport(facts.page.name, state.status, excused=bool(state.reason))
    if facts.recording is None:
        changed = f" (changed: {state.changed_words})" if state.changed else ""
        report.lacking = f"{state.status}{changed}{f' ({state.reason})' if state.reason else ''}"
    elif facts.recording.n_starts < LEAST_STARTS:
        report.too_few = starts_words(facts.recording.n_starts)
    elif report.excused:
        nothing = "the page no longer waits; take 'waits' out of its entry"
        report.violations.append(Violation(facts.page.name, "pending", nothing))
    return report


def _apply(rule: Rule, facts: PageFacts, report: PageReport) -> str:
    messages: list[str] = []
    waits = False
    try:
        # What a rule finds before it needs the recording holds without one.
        messages.extend(rule.check(facts))
    except NotRecordedError:
        waits = True
    except GpuGuideError as error:
        messages = [str(error)]
    found = [Violation(facts.page.name, rule.code, message) for message in messages]
    if rule.code in facts.page.unwritten and rule.code in _NUMBERED:
        report.unwritten += found
        return "unwritten"
    if not messages:
        return "waits" if waits else "ok"
    if rule.code in facts.page.waivers and rule.code not in NEVER_WAIVED:
        report.waived.append(f"{rule.code} waived: {facts.page.waivers[rule.code]}")
        return "waived"
    report.violations += found
    return "fails"


def _waivers(page: Page) -> Iterator[Violation]:
    for code in page.waivers:
        if code not in _NUMBERED:
            yield Violation(
                page.name, "waivers", f"{code!r} cannot be waived; known are {', '.join(_NUMBERED)}"
            )
        if code in NEVER_WAIVED:
            yield Violation(page.name, "waivers", f"{code} is never waived")
    if len(page.waivers) > _MOST_WAIVERS:
        yield Violation(
            page.name, "waivers", f"{len(page.waivers)} waivers; at most {_MOST_WAIVERS} are allowed"
        )


def _unknown_unwritten(page: Page) -> Iterator[Violation]:
    for code in page.unwritten:
        if code not in _NUMBERED:
            known = ", ".join(_NUMBERED)
            yield Violation(page.name, "unwritten", f"{code!r} cannot be unwritten; known are {known}")


def check_prose(layout: Layout, documents: Documents) -> list[Violation]:
    """Look for typed figures outside of the gallery: loose pages, README, exercises, docstrings of topics."""
    found = []
    for path in [*sorted(layout.docs.glob("*.md")), *sorted(layout.docs.glob("*.rst"))]:
        found += _figures(layout, path, documents.named(path.stem).figures)
    exercises = (layout.source / "gpuguide" / "exercises").rglob("*.md")
    for path in [layout.root / "README.md", *sorted(exercises)]:
        if path.exists():
            lines = plain_lines(path.read_text(encoding="utf-8"))
            found += [each for each in _figures(layout, path, lines) if not _limits(layout, path, each)]
    for path in sorted((layout.source / "gpuguide" / "topics").rglob("*.py")):
        found += _figures(layout, path, list(_docstrings(path)))
    return found


def _limits(layout: Layout, path: Path, found: Violation) -> bool:
    """Say whether an exercise states what an answer must keep to."""
    return path.is_relative_to(layout.source) and bool(_LIMIT.search(found.message))


def _figures(layout: Layout, path: Path, lines: list[tuple[int, str]]) -> list[Violation]:
    name = path.relative_to(layout.root).as_posix()
    hint = ", or rule for what the method lays down"
    return [Violation(name, "figures", f"{figure}{hint}") for figure in find_typed_figures(lines)]


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            first = getattr(node, "lineno", 0)
            for number, line in plain_lines(ast.get_docstring(node) or ""):
                if not line.lstrip().startswith((">>>", "...")):
                    yield first + number, line


def check_site(
    site: Site, documents: Documents, workers: int = 1
) -> tuple[list[PageReport], list[Violation]]:
    """Check every page against the contract, in teaching order, and what is outside of the gallery."""
    for page in site.pages:
        # Each page is compared with those before it, so all are read before the work is shared out.
        if page.source(site.layout).exists():
            documents.page(page)
    pages = [partial(check_page, site, page, documents) for page in site.pages]
    work: list[Callable[[], Any]] = [partial(check_prose, site.layout, documents), *pages]
    others, *reports = on_all_cores(work, workers)
    return reports, others


def report(reports: list[PageReport], others: list[Violation], *, strict: bool) -> bool:
    """Print a table and what must be corrected; say whether the contract holds, strictly for publishing."""
    # Without a terminal rich assumes 80 columns, but the table has a column for each rule.
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    _print(console, reports, others)
    return _verdict(console, reports, others, strict=strict)


def _print(console: Console, reports: list[PageReport], others: list[Violation]) -> None:
    table = Table(title="Contract", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    codes = (*_NUMBERED, *_WORDS)
    for heading in ("page", "recording", *codes):
        table.add_column(heading, no_wrap=True)
    for report in reports:
        marks = (report.marks.get(code, "") for code in codes)
        table.add_row(report.page, report.status, *(_SIGNS[mark] for mark in marks))
    console.print(table)
    console.print("+ holds   x fails   w waived   u unwritten   ? waits for a recording")
    console.print(_lengths(reports))
    for report in reports:
        for reason in report.waived:
            console.print(f"{report.page}: {reason}", markup=False)
        if report.evidence:
            console.print(
                f"{report.page}: evidence for causes: {', '.join(report.evidence)}",
                markup=False,
                soft_wrap=True,
            )
    for violation in [*(each for report in reports for each in report.violations), *others]:
        console.print(
            f"{violation.page}: {violation.rule}: {violation.message}", markup=False, soft_wrap=True
        )


def _lengths(reports: list[PageReport]) -> Table:
    """Print the length of each page, and the evidence for its causes."""
    table = Table(title="Lengths", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("page", no_wrap=True)
    for heading in ("words", "minutes", "open code", "causes with evidence"):
        table.add_column(heading, justify="right")
    for report in reports:
        kinds = Counter(each.split()[0] for each in report.evidence)
        causes = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        length = (report.reading.words, report.reading.minutes, report.reading.code_lines)
        table.add_row(report.page, *map(str, length), f"{kinds.total()} ({causes})" if causes else "0")
    return table


def _verdict(console: Console, reports: list[PageReport], others: list[Violation], *, strict: bool) -> bool:
    lacking = [report for report in reports if report.lacking]
    for report in lacking:
        console.print(f"{report.page}: {report.lacking}; {_NEEDS_A_GPU}", markup=False, soft_wrap=True)
    too_few = [report for report in reports if report.too_few]
    for report in too_few:
        excused = " (it waits)" if report.excused else ""
        console.print(f"{report.page}: {report.too_few}; {_TOO_FEW}{excused}", markup=False, soft_wrap=True)
    drafts = [report for report in reports if report.draft]
    for report in drafts:
        for violation in report.unwritten:
            words = f"{report.page}: unwritten {violation.rule}: {violation.message}"
            console.print(words, markup=False, soft_wrap=True)
        console.print(f"{report.page}: draft: unwritten {report.draft}", markup=False, soft_wrap=True)
    n_violations = sum(len(report.violations) for report in reports) + len(others)
    waiting = [report for report in (*lacking, *too_few) if not report.excused]
    failing = [*waiting, *drafts] if strict else []
    counted = f"{len(reports)} pages, {n_violations} violations, {len(lacking)} recordings lacking"
    if too_few:
        counted += f", {len(too_few)} on too few machine starts"
    console.print(f"{counted}, {len(drafts)} drafts" if drafts else counted)
    return not (n_violations or failing)
