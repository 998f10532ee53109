"""The former rules, for pages that are no lessons yet. The last page that moves takes this file with it.

With it go `Rule.rules`, `Page.is_lesson` and the key ``rules`` of ``pages.toml``, typed minutes, and in
`page_source` the parts (``part-*``), `PageSource.order`, what leads there, and `PageSource.n_words`; in the
style sheet, what speaks of ``part-``.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from gpuguide_docs.contract.page_facts import (
    PageFacts,
    Rule,
    alternative_texts,
    charted_variants,
    check_captions,
    shown_code,
)
from gpuguide_docs.pages.pages_toml import KINDS
from gpuguide_docs.show.references import Reference

__all__ = ["FORMER", "PARTS", "check_questions"]

#: Parts of a page, in their order.
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
_QUESTIONS = 2
_COUNTED = tuple(kind for kind in KINDS if kind != "explanation")


def check_words(facts: PageFacts) -> Iterator[str]:
    """C2: 600 to 1800 words (a how-to 150 to 600), text between two code cells, short open code."""
    low, high = (150, 600) if facts.page.kind == "how_to" else (600, 1800)
    if not low <= facts.source.n_words <= high:
        yield f"{facts.source.n_words} words of prose; {low} to {high} are allowed"
    # A kernel and its launcher come from two modules and stand under one sentence.
    order = facts.source.order
    pairs = sum("text" not in pair and pair != ("kernel", "kernel") for pair in itertools.pairwise(order))
    if pairs:
        yield f"{pairs} times two pieces of code without a sentence between them"
    for use in facts.source.code:
        if use.cell.place == "open" and use.n_lines > _OPEN_LINES:
            yield f"line {use.cell.lineno}: open code of {use.n_lines} lines; {_OPEN_LINES} are allowed"
    for kernel in facts.source.of("kernel"):
        for definition in shown_code(kernel).split("\n\n\n"):
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
    if not any("idea" in use.parts for use in facts.source.of("drawing")):
        yield "part 'idea' has no drawing"
    headings = [heading.text for heading in facts.source.headings]
    if "wrong" in parts and not any(text.startswith("Wrong on purpose: ") for text in headings):
        yield "part 'wrong' needs a heading that begins with 'Wrong on purpose: '"


def check_bare(facts: PageFacts) -> Iterator[str]:
    """C4: a bare cell, without the guide's package, and its output."""
    code = [use for use in facts.source.code if use.cell.kind == "recorded" and use.cell.place == "open"]
    bare = [use for use in code if "bare" in use.parts]
    plain = [use for use in bare if "gpuguide" not in use.imports and "gg." not in use.cell.content]
    if not plain:
        yield "no recorded cell in part 'bare' that does without gpuguide"
    elif facts.recording is not None:
        shown = {output.cell for output in facts.recording.cells if output.stdout.strip() or output.shows}
        if not any(use.cell.index in shown for use in plain):
            yield "the bare cell prints nothing"


def check_variants(facts: PageFacts) -> Iterator[str]:
    """C5: each charted variant is shown in full and named in prose."""
    shown = {f"{use.key}.{name}" for use in facts.source.of("kernel") for name in use.node["names"]}
    prose = " ".join([facts.source.prose, *(heading.text for heading in facts.source.headings)]).lower()
    missed: set[str] = set()
    for _, infos in charted_variants(facts):
        for info in infos:
            if info.source.startswith("gpuguide.") and info.source not in shown:
                missed.add(f"variant {info.name!r} is charted, and {info.source} is not shown")
            words = {info.name.lower(), info.name.replace("_", " ").lower(), info.label.lower()}
            if not any(word and word in prose for word in words):
                missed.add(f"variant {info.name!r} is charted, and the text does not name it ({info.label})")
    if "ladder" in facts.page.tags and max((len(n) for _, n in charted_variants(facts)), default=0) < 4:
        missed.add("a ladder has at least four rungs")
    yield from sorted(missed)


def check_charts(facts: PageFacts) -> Iterator[str]:
    """C7: two charts; captions with a measured number; alternative text with axes and two numbers."""
    alternatives = alternative_texts(facts)
    if len(alternatives) < 2:
        yield f"{len(alternatives)} charts; at least two are required"
    captions = {use.key for use in facts.source.of("finding")}
    if len(captions) < min(2, len(alternatives)):
        yield f"{len(captions)} captions (.. finding::) for {len(alternatives)} charts"
    yield from check_captions(facts)


def check_numbers(facts: PageFacts) -> Iterator[str]:
    """C8: six measured numbers of three metrics, one of them where the GPU does not pay."""
    metrics = Counter(_metric(facts, reference) for reference, _ in facts.references)
    if metrics.total() < 6:
        yield f"{metrics.total()} measured numbers; at least 6 are required"
    if len(metrics) < 3:
        yield f"{len(metrics)} metrics ({', '.join(metrics)}); at least 3 are required"
    if not any("when-not-to" in parts for _, parts in facts.references):
        yield "no measured number in part 'when-not-to'"


def _metric(facts: PageFacts, reference: Reference) -> str:
    if reference.kind == "fact" and facts.recording is not None and reference.name in facts.recording.facts:
        return f"fact in {facts.recording.facts[reference.name].unit}"
    return reference.metric


def check_questions(facts: PageFacts) -> Iterator[str]:
    """C11: two folded questions beside the exercise, which stands in its part."""
    asked = [use for use in facts.source.of("question") if "your-turn" in use.parts]
    if len(asked) < _QUESTIONS:
        yield f"{len(asked)} folded questions in part 'your-turn'; at least {_QUESTIONS} are required"
    for use in facts.source.of("exercise"):
        if facts.source.parts and "your-turn" not in use.parts:
            yield f"line {use.line}: exercise {use.key!r} stands outside of part 'your-turn'"


#: Those in whose place a lesson has another, or none.
FORMER = (
    Rule("C2", "words, open code", check_words, _COUNTED, rules="former"),
    Rule("C3", "parts in order", check_parts, rules="former"),
    Rule("C4", "bare cell with output", check_bare, rules="former"),
    Rule("C5", "variants shown and named", check_variants, recorded=True, rules="former"),
    Rule("C7", "charts and captions", check_charts, recorded=True, rules="former"),
    Rule("C8", "six numbers, three metrics", check_numbers, rules="former"),
)
