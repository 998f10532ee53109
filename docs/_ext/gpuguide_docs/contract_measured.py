"""The rules that look at a page's recording: C5 to C7, C9, C10, C13 and what can never be waived."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from gpuguide.claim_replay import replay_claim
from gpuguide.errors import GpuGuideError
from gpuguide.recordings import Recording, recompute
from gpuguide.results import ClaimResult, Measurement, Results
from gpuguide_docs.contract_page import PageFacts, Rule
from gpuguide_docs.contract_rules import kernel_sources, shown_names
from gpuguide_docs.pages import Experiment
from gpuguide_docs.references import parse_reference, parse_size
from gpuguide_docs.resolution import resolve

__all__ = ["MEASURED_RULES", "charted_variants"]

_NUMBER = re.compile(r"\d")
_CELL_BUDGET_S, _SLOW_S = 0.3, 0.2


def charted_variants(facts: PageFacts) -> Iterator[tuple[Results, list[str]]]:
    """Give the studies that drawn cells plot, each with the variants that they name (or all).

    Parameters
    ----------
    facts : PageFacts
        Of a recorded page.

    Yields
    ------
    Results
        A study.
    list of str
        Names of variants.
    """
    for use in facts.source.code:
        if use.cell.kind != "drawn":
            continue
        for call in ast.walk(ast.parse(use.cell.content)):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("gg.plot_"):
                yield from _plotted(facts, call)


def _plotted(facts: PageFacts, call: ast.Call) -> Iterator[tuple[Results, list[str]]]:
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
            yield results, chosen[0] if chosen else [info.name for info in results.variants]


def check_variants(facts: PageFacts) -> Iterator[str]:
    """C5: each charted variant is shown in full and named in prose."""
    shown = {
        f"{use.argument}.{name}"
        for use, code in kernel_sources(facts)
        for name in shown_names(use) or re.findall(r"^def (\w+)", code, re.MULTILINE)
    }
    prose = " ".join([facts.source.prose, *(heading.text for heading in facts.source.headings)]).lower()
    missed: set[str] = set()
    for results, names in charted_variants(facts):
        for info in (results.variant(name) for name in names):
            if info.source.startswith("gpuguide.") and info.source not in shown:
                missed.add(f"variant {info.name!r} is charted, and {info.source} is not shown")
            words = {info.name.lower(), info.name.replace("_", " ").lower(), info.label.lower()}
            if not any(word and word in prose for word in words):
                missed.add(f"variant {info.name!r} is charted, and the text does not name it ({info.label})")
    if "ladder" in facts.page.tags and max((len(n) for _, n in charted_variants(facts)), default=0) < 4:
        missed.add("a ladder has at least four rungs")
    yield from sorted(missed)


def check_sizes(facts: PageFacts) -> Iterator[str]:
    """C6: six sizes over three decades for a sweep, the source's size and dtype among them."""
    for results in facts.measured.studies.values():
        if len(results.sizes) > 2:
            sizes = sorted(results.sizes)
            if len(sizes) < 6 or sizes[-1] < 1000 * sizes[0]:
                span = f"{len(sizes)} sizes from {sizes[0]} to {sizes[-1]}"
                yield f"study {results.name!r} has {span}; six over three decades are asked for"


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


def check_charts(facts: PageFacts) -> Iterator[str]:
    """C7: two charts; captions with a measured number; alternative text with axes and two numbers."""
    alternatives = [figure.alt for cell in facts.measured.cells for figure in cell.figures]
    alternatives += _drawn_alternatives(facts)
    if len(alternatives) < 2:
        yield f"{len(alternatives)} charts; at least two are asked for"
    captions = facts.source.directive("finding")
    if len(captions) < min(2, len(alternatives)):
        yield f"{len(captions)} captions (.. finding::) for {len(alternatives)} charts"
    for caption in captions:
        if ":measured:" not in caption.content:
            yield f"line {caption.line}: the caption has no measured number"
    for words in alternatives:
        if len(_NUMBER.findall(words)) < 2 or len(words.split()) < 6:
            yield f"alternative text names no axes or fewer than two numbers: {words[:60]!r}"


def _drawn_alternatives(facts: PageFacts) -> list[str]:
    from gpuguide_docs.drawing import draw

    cells = tuple(use.cell for use in facts.source.code if use.cell.kind == "drawn")
    if not cells:
        return []
    state = facts.state
    outputs = draw(facts.site.layout, facts.page.name, cells, facts.measured, state.digest, facts.path)
    return [picture.alt for output in outputs if output for picture in output.pictures]


def check_claims(facts: PageFacts) -> Iterator[str]:
    """C9: two claims of two variants each or of a ceiling; other samples make each false."""
    claims = facts.measured.claims
    if len(claims) < 2:
        yield f"{len(claims)} claims; at least two are asked for"
    for claim in claims:
        if not claim.holds:
            yield f"claim {claim.text!r} does not hold"
        elif "share" not in claim.expression and not any(_falsified(facts.measured, claim)):
            yield f"claim {claim.text!r} is not made false by swapping the samples of two variants"


def _falsified(recording: Recording, claim: ClaimResult) -> Iterator[bool]:
    """Swap the samples of the two variants that a claim names, and decide it again."""
    try:
        tree = ast.parse(claim.expression)
    except SyntaxError:
        return
    words = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for name, results in recording.studies.items():
        known = {info.name for info in results.variants}
        pair = list(dict.fromkeys(str(word) for word in words if word in known))[:2]
        if len(pair) == 2:
            swapped = results.swap_samples(*pair)
            alone = replay_claim(claim, {name: results})
            others = {} if alone is not None else recording.studies
            again = replay_claim(claim, {**others, name: swapped})
            about = alone is None or (alone.low, alone.high) == (claim.low, claim.high)
            yield about and again is not None and not again.holds


def check_gate(facts: PageFacts) -> Iterator[str]:
    """C10: each timed variant passed the gate before and after, and the topic's tests exist."""
    for results in facts.measured.studies.values():
        for name in dict.fromkeys(cell.variant for cell in results.measurements if cell.n):
            checks = [check for check in results.checks if check.variant == name]
            kinds = {check.kind for check in checks}
            if not {"exact", "random"} & kinds or "after" not in kinds:
                done = ", ".join(sorted(kinds)) or "never"
                yield f"{results.name}: {name!r} was timed; it was checked: {done}"
            if not all(check.passed for check in checks):
                yield f"{results.name}: {name!r} failed a check"
    tests = facts.site.layout.root / "tests" / "topics" / f"test_{facts.page.topic}.py"
    if not tests.exists():
        yield f"there is no {tests.relative_to(facts.site.layout.root)}"


def check_needs(facts: PageFacts) -> Iterator[str]:
    """C13: peak memory and time within what the entry says."""
    provenance, needs = facts.measured.provenance, facts.page.needs
    # Where a page needs no GPU, what was seen there is the context that the recorder's clock opened.
    if needs.gpus and provenance.peak_memory_bytes and provenance.peak_memory_bytes > needs.gib * 2**30:
        used = provenance.peak_memory_bytes / 2**30
        yield f"the run used {used:.1f} GiB of GPU memory, needs says {needs.gib:g}"
    if provenance.run_time_s and provenance.run_time_s > 60 * facts.page.minutes:
        yield f"the run took {provenance.run_time_s:.0f} s, longer than reading the page"


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
    """Twenty, or as many as the rounds give where twenty did not fit into a cell's budget."""
    taken_s = [ns / 1e9 for ns in cell.samples_ns]
    if max(taken_s, default=0.0) > _SLOW_S:
        return 3
    # The budget is also spent on what surrounds the samples: flushes, delays, the wait for launches.
    return 5 if sum(taken_s) > 0.8 * _CELL_BUDGET_S else 20


def check_recomputed(facts: PageFacts) -> Iterator[str]:
    """Medians, rates, tables and claims follow from the raw samples."""
    yield from recompute(facts.measured)
    recorded = [use.cell for use in facts.source.code if use.cell.kind == "recorded"]
    shown = {cell.index: _shown_name(cell.content) for cell in recorded}
    for output in facts.measured.cells:
        study = facts.measured.names.get(shown.get(output.cell, ""), "")
        if study and output.html and output.html != facts.measured.studies[study]._repr_html_():
            yield f"the table under recorded cell {output.cell} is not what the samples of {study!r} give now"


def _shown_name(code: str) -> str:
    """Name that a cell shows as its last value."""
    body = ast.parse(code).body
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    return last.id if isinstance(last, ast.Name) else ""


def check_one_run(facts: PageFacts) -> Iterator[str]:
    """All numbers of a page come from its own run."""
    for reference, _ in facts.references:
        if reference.page not in ("", facts.page.name):
            yield f"a number of page {reference.page!r}; numbers of one page come from one run"


def check_references(facts: PageFacts) -> Iterator[str]:
    """Each measured number resolves."""
    for use in facts.source.role("measured"):
        try:
            reference = replace(parse_reference(use.text), page="")
            resolve(reference, facts.measured)
        except GpuGuideError as error:
            yield f"line {use.line}: {error}"


_ALL = ("tutorial", "case", "clock", "how_to", "explanation")
MEASURED_RULES = (
    Rule("C5", "variants shown and named", check_variants, recorded=True),
    Rule("C6", "sizes of a sweep", check_sizes, recorded=True),
    Rule("C7", "charts and captions", check_charts, recorded=True),
    Rule("C9", "claims", check_claims, recorded=True),
    Rule("C10", "gate", check_gate, recorded=True),
    Rule("C13", "memory and time", check_needs, _ALL, recorded=True),
    Rule("experiments", "the source's sizes", check_experiments, _ALL, recorded=True),
    Rule("samples", "a full run", check_samples, _ALL, recorded=True),
    Rule("recomputed", "follows from samples", check_recomputed, _ALL, recorded=True),
    Rule("one run", "one run id", check_one_run, _ALL),
    Rule("numbers", "numbers resolve", check_references, _ALL, recorded=True),
)
