"""Numbers in prose that nobody typed: the roles ``measured``, ``claimed`` and ``rule``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from docutils import nodes
from sphinx.util.docutils import SphinxRole

from gpuguide.errors import ArgumentError, GpuGuideError, UnknownNameError, unknown
from gpuguide.results.counters import COUNTERS, NOT_COUNTED, counted_at
from gpuguide.results.records import FactOverStarts
from gpuguide.results.results import HOST_BOUND, QUANTITIES, WORK_QUANTITIES
from gpuguide.results.starts import starts_words
from gpuguide.results.units import REGIONS, size_words
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results
    from gpuguide.results.starts import Quantity
    from gpuguide_docs.replay.states import PageState

__all__ = [
    "NOT_MEASURED",
    "Number",
    "Reference",
    "ReportingRole",
    "claim_of",
    "measured_number",
    "measured_on",
    "not_measured",
    "number_node",
    "parse_reference",
    "parse_size",
    "processor_of",
    "resolve",
    "setup",
    "starts_and_days",
    "unmeasured_number",
]

NOT_MEASURED = "not measured yet"

_LONGEST_NUMBER = 40
#: Not by `strftime`, whose months follow the locale: pages are the same bytes everywhere.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_HOST_BOUND_WORDS = "a span that includes the host's time, because the host could not keep the GPU busy"
_HINT = (
    "write page:study[variant, 2**24].time, .speedup(baseline), .work(name), page:study.crossover(a, b) or "
    "page:fact"
)
_REFERENCE = re.compile(
    r"(?:(?P<page>\w+)\s*:)?\s*(?P<name>\w+)\s*"
    r"(?:\[\s*(?P<variant>\w+)\s*,(?P<size>[^\]]+)\]\s*)?"
    r"(?:\.\s*(?P<quantity>\w+)\s*(?:\((?P<given>[\w\s,]*)\))?)?"
)
#: Quantity -> what has to stand in its brackets.
_NEEDED = {
    "speedup": "a baseline, as in .speedup(numpy)",
    "work": "the name of a work, as in .work(warp_steps)",
    "gain": "the name of a work, as in .gain(warp_steps)",
    "counter": "the name of a counter, as in .counter(registers)",
}


# What a reference says ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """What stands inside the role ``measured``."""

    page: str
    kind: Literal["cell", "counter", "crossover", "fact"]
    name: str
    variant: str = ""
    size: int = 0
    quantity: str = ""
    baseline: str = ""
    work: str = ""
    counter: str = ""
    pair: tuple[str, str] = ("", "")


def parse_reference(text: str) -> Reference:
    """Read a reference."""
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")
    page, name, variant, quantity = match["page"] or "", match["name"], match["variant"], match["quantity"]
    given = re.findall(r"\w+", match["given"] or "")
    if not variant and not quantity:
        return Reference(page, "fact", name)
    if quantity == "crossover" and not variant and len(given) == 2:
        return Reference(page, "crossover", name, pair=(given[0], given[1]))
    if not variant or not quantity:
        raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")
    if quantity not in {*QUANTITIES, "counter"}:
        raise unknown("quantity", quantity, [*QUANTITIES, "counter"])
    if quantity in _NEEDED and not given:
        raise ArgumentError(f"{text!r}: {quantity} needs {_NEEDED[quantity]}.")
    of = given[0] if given else ""
    if quantity == "counter":
        if of not in COUNTERS:
            raise unknown("counter", of, COUNTERS)
        return Reference(page, "counter", name, variant, parse_size(match["size"]), quantity, counter=of)
    if of and quantity != "speedup" and quantity not in WORK_QUANTITIES:
        raise ArgumentError(f"{text!r}: {quantity} takes no baseline; only speedup does.")
    baseline, work = (of, "") if quantity == "speedup" else ("", of)
    return Reference(page, "cell", name, variant, parse_size(match["size"]), quantity, baseline, work)


def parse_size(text: str) -> int:
    """Work out a size written as an integer expression."""
    text = text.strip()
    try:
        size = eval(text, {}) if re.fullmatch(r"[\d_\s*+-]+", text) else 0
    except SyntaxError:
        size = 0
    if not isinstance(size, int) or size < 1:
        raise ArgumentError(f"{text!r} is not a size: write an integer such as 2**24, 10**6 or 65_536.")
    return size


# What it stands for ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A measured number, ready to be shown: ``note`` is what hovering shows."""

    text: str
    note: str
    detail: str


def processor_of(recording: Recording, *, gpu: bool = True) -> str:
    """Name the GPUs that a page was measured on; if none was, or on request, the CPU."""
    provenance = recording.provenance
    if gpu and provenance.gpu not in ("", "none"):
        # As the folders of machines are called: nvidia-h200-x2.
        several = re.search(r"-x(\d+)$", provenance.machine)
        return f"{several[1]} {provenance.gpu}" if several else provenance.gpu
    processor = provenance.cpu.replace("(R)", "")
    threads = f"{provenance.threads} thread{'' if provenance.threads == 1 else 's'}"
    processor += f" with {threads}" if provenance.threads else ""
    return processor or provenance.machine


def starts_and_days(recording: Recording) -> str:
    """Say on how many starts of its machine a recording was made, and on how many days."""
    days = {each.utc_date[:10] for each in recording.provenances}
    on = f" on {len(days)} days" if len(days) > 1 else " of one day" if recording.n_starts > 1 else ""
    return starts_words(recording.n_starts) + on


def measured_on(recording: Recording, *, gpu: bool = True, starts: bool = True) -> str:
    """Say on which machine a recording was made, on how many starts of it and days, and when last."""
    day = date.fromisoformat(recording.provenance.utc_date[:10])
    parts = [processor_of(recording, gpu=gpu), *([starts_and_days(recording)] if starts else [])]
    latest = "latest on " if recording.runs else ""
    return ", ".join([*parts, f"{latest}{day.day} {_MONTHS[day.month - 1]} {day.year}"])


def resolve(reference: Reference, recording: Recording) -> Number:
    """Look a reference up in its page's recording."""
    of: Quantity | None = None
    size, is_number = "", True
    if reference.kind == "fact":
        if reference.name not in recording.facts:
            raise unknown("fact or study", reference.name, [*recording.facts, *recording.studies])
        fact = recording.facts[reference.name]
        of = fact.over if isinstance(fact, FactOverStarts) else None
        is_number = fact.unit != "text"
        text, parts = fact.shown, [fact.note or fact.name.replace("_", " "), fact.basis]
    elif reference.kind == "counter":
        size = size_words(reference.size)
        text, parts = _counter(reference, recording)
    else:
        if reference.name not in recording.studies:
            raise unknown("study", reference.name, recording.studies)
        results = recording.studies[reference.name]
        if reference.kind == "crossover":
            text, parts = _crossover(reference, results)
        else:
            of, parts = _quantity(reference, results)
            text, size = str(of), f"{size_words(reference.size)} {results.size_name}"
    noun = reference.work.replace("_", " ")
    if noun and reference.quantity == "work":
        text = f"{text} {noun}"
    elif noun and reference.quantity == "rate":
        text = f"{text.removesuffix('/s').strip()} {noun}/s"
    spread = f" ({of.interval})" if of and of.low != of.high and of.has_range else ""
    # Of a processor's name, what stands before its family and model.
    note = [f"{text}{spread}" * is_number, size, processor_of(recording).partition(" (")[0]]
    return Number(text, "; ".join(filter(None, note)), "; ".join(filter(None, parts)))


def _counter(reference: Reference, recording: Recording) -> tuple[str, list[str]]:
    if not recording.counters:
        return NOT_COUNTED, ["the hardware counters of this code have not been read yet"]
    cell = counted_at(recording.counters, reference.name, reference.variant, reference.size)
    counter, kernel = COUNTERS[reference.counter], cell.longest
    parts = [counter.words]
    if len(cell.kernels) > 1:
        of_all = counter.of_all == "sum"
        parts.append(f"all {len(cell.kernels)} kernels" if of_all else f"the longest kernel, {kernel.name}")
    if reference.counter == "stall_cycles" and kernel.stall:
        parts.append(f"the profiler calls it {kernel.stall}")
    return cell.shown(reference.counter), [*parts, "counted once, caches empty"]


def _quantity(reference: Reference, results: Results) -> tuple[Quantity, list[str]]:
    quantity = results.quantity(
        reference.variant,
        reference.size,
        reference.quantity,
        baseline=reference.baseline or None,
        work=reference.work or None,
    )
    size = f"{size_words(reference.size)} {results.size_name}"
    subject = _subject(reference, results, quantity)
    return quantity, [subject, quantity.basis, size, *_remarks(reference, results)]


def _remarks(reference: Reference, results: Results) -> list[str]:
    """Return the remarks that belong beside the number; for a ratio, with the side that they are about."""
    if reference.quantity in ("work", "gain"):
        return []  # a count has nothing to do with how its time was taken
    clock = "launch" if reference.quantity == "launch" else None
    remarks = []
    for name in filter(None, (reference.variant, reference.baseline)):
        side = f"{results.variant(name).label}: " if reference.baseline else ""
        for remark in results.remarks(name, reference.size, clock):
            # A table has no room for so many words.
            rest = remark.removeprefix(HOST_BOUND)
            remarks.append(f"{side}{remark if rest == remark else _HOST_BOUND_WORDS + rest}")
    return remarks


def _subject(reference: Reference, results: Results, quantity: Quantity) -> str:
    noun = reference.work.replace("_", " ")
    if quantity.ratio_of:
        return f"{noun} of {quantity.ratio_of}" if noun else quantity.ratio_of
    info = results.variant(reference.variant)
    if reference.quantity == "work":
        return f"{info.label}: {round(quantity.value):,} {noun}".replace(",", "\u202f")
    if noun and reference.quantity == "share":
        return f"{info.label}, share of the most {noun} per second that the GPU can do"
    region = "launch" if reference.quantity == "launch" else info.clock
    return f"{info.label}, {REGIONS[region].sentence}"


def _crossover(reference: Reference, results: Results) -> tuple[str, list[str]]:
    first, second = reference.pair
    labels = [results.variant(name).label for name in reference.pair]
    bracket = results.crossover(first, second)
    if bracket is None:
        raise UnknownNameError(
            f"{second!r} never overtakes {first!r} for good at the sizes of study {results.name!r}: "
            "there is no crossover to show. Swap the two names or measure other sizes."
        )
    below, above = size_words(bracket.slower_at), f"{size_words(bracket.faster_at)} {results.size_name}"
    basis = starts_words(results.n_starts)
    same = [run.crossover(first, second) == bracket for run in results.runs]
    if len(same) > 1:
        basis += f", the same in {'all' if all(same) else f'{sum(same)} of'} {len(same)} runs"
    detail = f"{labels[1]} is slower than {labels[0]} at {below} and faster at {above}"
    return f"between {below} and {above}", [detail, basis]


# What stands on a page ------------------------------------------------------------------------------------


class number_node(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """A number: attributes ``key``, ``note``, what hovering shows, ``tip``, its id, and ``detail``."""


class ReportingRole(SphinxRole):
    """A role that becomes one node, or an error that the next build meets again."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Give the node, or report why there is none."""
        try:
            node = self.node()
        except GpuGuideError as error:
            # Without this, a document that failed would count as read, and the next build would pass.
            self.env.note_reread()
            message = self.inliner.reporter.error(f"{self.name} {self.text!r}: {error}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        self.set_source_info(node)
        return [node], []

    def node(self) -> nodes.Node:
        """Make the node; GpuGuideError where there is nothing to show."""
        raise NotImplementedError


class MeasuredRole(ReportingRole):
    """``:measured:`page:study[variant, 2**24].time```: a number from a recording."""

    def node(self) -> nodes.Node:
        """Look the reference up in the recording of its page, or of this page."""
        site = site_of(self.env)
        reference = parse_reference(self.text)
        here = site.page_of(self.env.docname)
        state = site.state(reference.page or (here.name if here else ""), self.env)
        recording = site.recording(state)
        if recording is None:
            return unmeasured_number(self.env, self.text, state)
        return measured_number(self.env, self.text, recording)


class ClaimedRole(ReportingRole):
    """``:claimed:`s2_sort_speedup```: what a source document says, by ``docs/claims.toml``."""

    def node(self) -> nodes.Node:
        """Look the claim up."""
        path = site_of(self.env).layout.docs / "claims.toml"
        self.env.note_dependency(str(path))
        words, title = claim_of(path, self.text)
        return _node(self.env, self.text, words, f"claimed by “{title}”, not measured here", "gg-claimed")


def claim_of(claims_toml: Path, name: str) -> tuple[str, str]:
    """Give what a source document claims, and the document's title."""
    table = tomllib.loads(claims_toml.read_text(encoding="utf-8"))
    if name not in table["claims"]:
        raise unknown("claim", name, table["claims"])
    claim = table["claims"][name]
    return claim["text"], table["sources"][claim["source"]]["title"]


class RuleRole(SphinxRole):
    """``:rule:`0.2 s```: a figure that is a rule of the method and not a measurement."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Give the text as it stands; the check for typed figures passes over it."""
        return [nodes.inline(self.rawtext, self.text, classes=["gg-rule"])], []


def measured_number(env: BuildEnvironment, key: str, recording: Recording) -> number_node:
    """Give the number that the role ``measured`` shows for a reference."""
    number = resolve(parse_reference(key), recording)
    page = site_of(env).page_of(env.docname)
    # Machine and date of a page's own numbers stand in the fold above them.
    where = "" if page and page.name == recording.page else f"; {measured_on(recording, starts=False)}"
    node = _node(env, key, number.text, number.note, "gg-measured")
    node["detail"] = f"{number.detail}{where}"
    return node


def unmeasured_number(env: BuildEnvironment, key: str, state: PageState) -> number_node:
    """Return what stands in for a number while its page has none."""
    return _node(env, key, NOT_MEASURED, _why_unmeasured(state), "gg-unmeasured")


def not_measured(state: PageState) -> list[nodes.Node]:
    """Say that a page has no numbers, and why."""
    words = nodes.inline("", NOT_MEASURED, classes=["gg-unmeasured"])
    return [words, nodes.Text(f": {_why_unmeasured(state)}")]


def _why_unmeasured(state: PageState) -> str:
    if state.status == "pending":
        return f"waits for a GPU: {state.reason}"
    if state.status == "stale":
        return "the code changed since it was measured; the page waits to be measured again"
    return "this page was never measured"


def _node(env: BuildEnvironment, key: str, text: str, note: str, kind: str) -> number_node:
    # A number stays on one line, but not a fact of many words.
    classes = [kind, "gg-words"] if len(text) > _LONGEST_NUMBER else [kind]
    tip = f"gg-tip-{env.new_serialno('gg-tip')}"
    return number_node(text, text, classes=classes, note=note, key=key, tip=tip)


def _visit_html(writer: Any, node: number_node) -> None:
    described = {"tabindex": "0", "aria-describedby": node["tip"]}
    writer.body.append(writer.starttag(node, "span", "", **described))


def _depart_html(writer: Any, node: number_node) -> None:
    note = writer.encode(node["note"])
    writer.body.append(f'<span class="gg-tip" role="tooltip" id="{node["tip"]}">{note}</span></span>')


def setup(app: Sphinx) -> None:
    """Register the roles and how their numbers are written."""
    app.add_node(number_node, html=(_visit_html, _depart_html))
    app.add_role("measured", MeasuredRole())
    app.add_role("claimed", ClaimedRole())
    app.add_role("rule", RuleRole())
