"""What the build adds to every page: *You will learn*, and the folded card *How this was measured*."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_design.dropdown import dropdown_main

from gpuguide.exercises import pool
from gpuguide.recordings.recording import Stated, machine_name
from gpuguide.results.counters import COUNTERS
from gpuguide.results.units import format_quantity, size_words
from gpuguide_docs.show.cells import CARD_ID, card_of, cell_node, fold
from gpuguide_docs.show.numbers import (
    measured_on,
    not_measured,
    number_node,
    processor_of,
    starts_and_days,
)
from gpuguide_docs.show.site import colab_link, link_to, site_of
from gpuguide_docs.show.tiles import claim_words, note_tile

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx.application import Sphinx

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.records import ClaimResult, Provenance
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.replay.states import PageState

__all__ = ["NumbersInCard", "PageFrame", "card_rows", "download", "minutes_of", "setup"]

_SHARED = "host shared during"


class PageFrame(SphinxTransform):
    """Frames a listed page: classes for question and answer, *You will learn*, card where it measures."""

    default_priority = 400

    def apply(self, **_kwargs: object) -> None:
        """Insert what the page lacks; other documents stay as they are."""
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        section = next(iter(self.document.findall(nodes.section)), None)
        if page is None or section is None:
            return
        self.env.note_dependency(str(site.layout.pages_toml))
        state = site.state(page.name, self.env) if page.format == "script" else None
        at = _after_answer(section, several=state is not None)
        answer = [node for node in section.findall(nodes.paragraph) if "gg-answer" in node["classes"]]
        minutes = minutes_of(self.document)
        note_tile(self.env, self.document, minutes, answer)
        before = [site.page(name) for name in page.after]
        section.insert(
            _after_picture(section, at),
            _promise(page, before, state, minutes, colab_link(self.env.config, page)),
        )
        if state and state.shown:
            # A draft has run the drawn cells at toy size, and shows nothing that they state of a recording.
            stated = Stated() if self.env.config.gpuguide_draft else site.drawing(state).stated
            findings = _findings(state.shown, state.others, stated)
            card_of(self.document).extend(_card(page, state.shown, findings, site.layout.docs))


class NumbersInCard(SphinxTransform):
    """Says in the card what each measured number rests on: the note beside it has few words."""

    default_priority = 402

    def apply(self, **_kwargs: object) -> None:
        """List each number once."""
        numbers = {
            node["key"]: node
            for node in self.document.findall(number_node)
            if "gg-measured" in node["classes"]
        }
        if numbers:
            rows = nodes.tbody("", *(_row([node.astext(), node["detail"]]) for node in numbers.values()))
            group = nodes.tgroup("", nodes.colspec(colwidth=1), nodes.colspec(colwidth=4), rows, cols=2)
            table = nodes.table("", group, classes=["gg-numbers"])
            card_of(self.document).insert(0, fold("Every number on this page, and what it rests on", table))


def _after_answer(section: nodes.section, *, several: bool) -> int:
    """Give the place after the answer; mark question and answer for the style sheet.

    The answer of a script is all paragraphs before the first cell or section, that of a page written by hand
    is one paragraph.
    """
    place, asked, answered = 1, False, False
    for number, node in enumerate(section.children):
        if answered and not several:
            break
        if isinstance(node, nodes.paragraph) and not node["classes"]:
            node["classes"].append("gg-answer" if asked else "gg-question")
            asked, answered, place = True, asked, number + 1
        elif not isinstance(node, nodes.title | nodes.comment | nodes.Admonition | nodes.system_message):
            break
    return place


_OF_A_PICTURE = {"gg-chart", "gg-choices", "gg-headline"}


def _after_picture(section: nodes.section, at: int) -> int:
    """Give the place after the picture, with its caption, that an answer may have."""
    for number, node in enumerate(section.children[at:], at + 1):
        is_chart = isinstance(node, cell_node) and any(True for _ in node.findall(nodes.image))
        if is_chart or isinstance(node, nodes.image) or _OF_A_PICTURE & {*_classes(node)}:
            at = number
        elif not isinstance(node, nodes.comment):
            break
    return at


def _classes(node: nodes.Node) -> list[str]:
    classes: list[str] = node["classes"] if isinstance(node, nodes.Element) else []
    return classes


# How long a page takes to read ----------------------------------------------------------------------------

_WORDS_PER_MINUTE = 180
_LINES_PER_MINUTE = 12
_PICTURES_PER_MINUTE = 6
#: A cell of a table with so many words is read like a paragraph; shorter ones are looked over.
_WORDS_OF_A_SENTENCE = 8
_PROSE = (nodes.paragraph, nodes.title, nodes.caption, nodes.term, nodes.rubric)
_PICTURES = {"gg-chart", "gg-choices", "gg-strip"}
_NOT_READ = {
    "gg-exercise",
    "gg-kernel-origin",
    "recorded-output",
    "page-stale",
    "page-unmeasured",
    "dropdown",
}


def minutes_of(document: nodes.Element) -> int:
    """Say how many minutes it takes to read what stands open on a page: its words, code and pictures."""
    return max(1, round(sum(map(_minutes, document.children))))


def _minutes(node: nodes.Node) -> float:
    if not isinstance(node, nodes.Element) or isinstance(node, nodes.Invisible | nodes.raw | dropdown_main):
        return 0
    classes = {*node["classes"], node.get("design_component")}
    if classes & _NOT_READ:
        return 0
    if isinstance(node, _PROSE):
        return _n_words(node) / _WORDS_PER_MINUTE
    if isinstance(node, nodes.literal_block):
        is_code = node.get("language") in ("python", "Python", "c++", "cuda")
        return sum(bool(line.strip()) for line in node.astext().splitlines()) / _LINES_PER_MINUTE * is_code
    if isinstance(node, nodes.table):
        cells = (_n_words(cell) for cell in node.findall(nodes.paragraph))
        words = sum(n for n in cells if n >= _WORDS_OF_A_SENTENCE)
        return words / _WORDS_PER_MINUTE + 1 / _PICTURES_PER_MINUTE
    is_picture = "drawing" in node or classes & _PICTURES
    return 1 / _PICTURES_PER_MINUTE if is_picture else sum(map(_minutes, node.children))


def _n_words(node: nodes.Element) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in node.astext().split())


# You will learn -------------------------------------------------------------------------------------------


def _promise(
    page: Page, before: list[Page], state: PageState | None, minutes: int, colab: str
) -> nodes.Element:
    """Build the box *You will learn*, with what the page takes and needs."""
    learnt = nodes.bullet_list("", bullet="*")
    learnt += [nodes.list_item("", nodes.paragraph("", text)) for text in page.objectives]
    beside = sum(pool.get(name).minutes for name in page.exercises)
    exercise = f", exercise{'s' if len(page.exercises) > 1 else ''} {beside} min" if beside else ""
    line = nodes.paragraph("", f"{minutes} min{exercise} · {page.level}", classes=["gg-byline"])
    if state is not None:
        line += [nodes.Text(" · "), *_measured(state, gpu=bool(page.needs.gpus)), nodes.Text(" · ")]
        line += download("notebook", f"gallery/downloads/{page.name}.ipynb")
        if colab:
            line += [nodes.Text(" · "), nodes.reference("", "open in Colab", refuri=colab)]
    needed = nodes.paragraph("", "", *_needed(page, before), classes=["gg-byline"])
    title = nodes.title("", "You will learn to")
    return nodes.admonition("", title, learnt, line, needed, classes=["gg-learn"])


def _needed(page: Page, before: list[Page]) -> Iterator[nodes.Node]:
    """Say which pages come first, and what it takes to run this one."""
    for number, earlier in enumerate(before):
        yield nodes.Text(", " if number else "Read first: ")
        yield link_to(page.docname, "doc", f"/{earlier.docname}", earlier.title)
    needs = page.needs
    gpus = f"{needs.gpus or 'no'} GPU{'s' if needs.gpus > 1 else ''}"
    memory = [f"{needs.gib:g} GB"] if needs.gpus and needs.gib else []
    yield nodes.Text(f"{'. ' if before else ''}To run it: {', '.join([gpus, *memory, *needs.extras])}.")


def _measured(state: PageState, *, gpu: bool) -> list[nodes.Node]:
    if state.shown is None:
        return not_measured(state)
    words = f"measured on {processor_of(state.shown, gpu=gpu).partition(' (')[0]}"
    return [nodes.reference("", words, refid=CARD_ID, internal=True)]


def download(text: str, path: str, *, up: bool = False) -> addnodes.download_reference:
    """Link a file for readers to take away."""
    # Recordings lie outside the source folder, at which Sphinx begins such a path.
    target = f"/../{path}" if up else f"/{path}"
    return addnodes.download_reference("", text, reftarget=target, reftype="download", refdomain="")


# The card -------------------------------------------------------------------------------------------------


def _card(page: Page, recording: Recording, findings: list[nodes.Node], docs: Path) -> list[nodes.Node]:
    where, commit = measured_on(recording), recording.provenance.commit
    run = f"run {recording.name}" + (f", commit {commit}" if commit else "")
    rows = nodes.field_list("", *(_field(name, nodes.Text(value)) for name, value in card_rows(recording)))
    if any(results.checks for results in recording.studies.values()):
        rows += _field("results", nodes.Text("compared with a reference before they were timed"))
    rows += _field("script", download(f"{page.name}.py", f"gallery/downloads/{page.name}.py"))
    rows += _field("raw files", *_raw_files(recording, docs))
    cite = f"The gpuguide developers, “{page.title}”, gpuguide, measured on {where}, {run}."
    rows += _field("how to cite", nodes.Text(cite))
    return [*findings, *_counters(recording), rows]


def _findings(own: Recording, others: Iterable[Recording], stated: Stated) -> list[nodes.Node]:
    """List the claims of a page, each with the machines on which it holds."""
    if not stated.claims:
        return []
    named = {other.machine: other for other in others}
    checked = [(named[each.machine], each.claims) for each in stated.elsewhere]
    items = []
    for number, claim in enumerate(stated.claims):
        there = [(recording, claims[number]) for recording, claims in checked]
        items.append(f"{claim_words(claim)}: {', '.join(_where(own, claim, there))}")
    listed = nodes.bullet_list("", bullet="*")
    listed += [nodes.list_item("", nodes.paragraph("", text)) for text in items]
    return [nodes.paragraph("", "What this page finds, and the machines on which it holds:"), listed]


def _where(
    own: Recording, claim: ClaimResult, there: Sequence[tuple[Recording, ClaimResult]]
) -> Iterator[str]:
    """Name the machines, with figures where one differs; a machine that did not measure it is left out."""
    measured = [(recording, other) for recording, other in there if other.low is not None]
    yield _machine(own, None if all(other.holds for _, other in measured) else claim)
    for recording, other in measured:
        if other.holds:
            yield _machine(recording)
        else:
            yield f"not {'in every run ' * (other.holds is None)}on {_machine(recording, other)}"


def _machine(recording: Recording, claim: ClaimResult | None = None) -> str:
    name = machine_name(recording)
    n_runs = len(recording.provenances)
    figure = f", down to {_amount(claim.low, claim.unit)}" if claim else ""
    return f"{name} ({n_runs} run{'s' * (n_runs > 1)}{figure})"


def _field(name: str, *body: nodes.Node) -> nodes.field:
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", *body)))


def _raw_files(recording: Recording, docs: Path) -> Iterator[nodes.Node]:
    assert recording.folder is not None, "what is shown was read from files"
    for number, name in enumerate(reversed(recording.files)):
        if number:
            yield nodes.Text(" · ")
        yield download(name, (recording.folder / name).relative_to(docs.parent).as_posix(), up=True)


def _counters(recording: Recording) -> list[nodes.Node]:
    """Build the table of the hardware counters: one row per counter, one column per variant and size."""
    cells = recording.counters
    if not cells:
        return []
    names = [name for name in COUNTERS if any(name in cell.names for cell in cells)]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in range(len(cells) + 1)), cols=len(cells) + 1)
    studies = [recording.studies[cell.study] for cell in cells]
    labels = [
        f"{study.variant(cell.variant).label}, {size_words(cell.size)} {study.size_name}"
        for cell, study in zip(cells, studies, strict=True)
    ]
    group += nodes.thead("", _row(["counted once, caches empty", *labels]))
    body = nodes.tbody()
    for name in names:
        shown = [cell.shown(name) if name in cell.names else "" for cell in cells]
        body += _row([COUNTERS[name].words, *shown])
    stalls = [cell.longest.stall for cell in cells]
    body += _row(["most frequent reason for waiting, in the profiler's words", *stalls])
    group += body
    table = nodes.table("", group, classes=["gg-counters"])
    # The target of evidence.
    table["counters"] = names
    return [table]


def _row(texts: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def card_rows(recording: Recording) -> list[tuple[str, str]]:
    """List what the card says, row by row; what a machine does not report is left out."""
    p = recording.provenance
    clocks = [("SM", p.sm_clock_hz), ("memory", p.memory_clock_hz)]
    cpu = [p.cpu, *(f"{n} {what}" for n, what in ((p.n_cpus, "logical CPUs"), (p.threads, "threads")) if n)]
    host = [p.virtualisation, f"time from {p.clock_source}" if p.clock_source else ""]
    rows = [
        ("GPU", p.gpu),
        ("compute capability", ".".join(map(str, p.compute_capability or ()))),
        ("SMs", str(p.sm_count or "")),
        ("L2 cache", _amount(p.l2_bytes, "B")),
        ("memory", _amount(p.memory_bytes, "B")),
        ("clocks", ", ".join(f"{name} {_amount(value, 'Hz')}" for name, value in clocks if value)),
        ("power limit", _amount(p.power_limit_w, "W")),
        ("SM clock seen", _span(p.sm_clock_seen_hz, "Hz")),
        ("power seen", _span(p.power_seen_w, "W")),
        ("ECC", {True: "on", False: "off", None: ""}[p.ecc]),
        ("driver", p.driver),
        ("CUDA", p.cuda),
        ("compiler", p.compiler),
        ("versions", _versions(p)),
        ("Python", f"{p.python}, {p.platform}" if p.python else ""),
        ("CPU", ", ".join(cpu) if p.cpu else ""),
        ("CPU clock", _amount(p.cpu_clock_hz, "Hz")),
        ("CPU caches", ", ".join(f"{name} {_memory(size)}" for name, size in p.cpu_caches)),
        ("host", ", ".join(filter(None, host))),
        ("BLAS", p.blas),
        ("steal time", _amount(p.steal_s, "s")),
        ("date", _date(p)),
        ("commit", p.commit),
        ("harness", f"version {recording.key.harness}"),
        ("run", recording.name),
        ("run time", _amount(p.run_time_s, "s")),
        ("peak GPU memory", _amount(p.peak_memory_bytes, "B")),
        *_runs(recording),
    ]
    return [(name, value) for name, value in rows if value]


def _runs(recording: Recording) -> Iterator[tuple[str, str]]:
    """Describe each run: when it was, on which start and CPU, and what differed from the other runs."""
    runs = recording.provenances
    n_runs = f", {len(runs)} runs" if len(runs) > recording.n_starts else ""
    yield "recorded on", f"{starts_and_days(recording)}{n_runs}"
    if len(runs) == 1:
        yield _SHARED, _of_run(runs[0])[_SHARED]
        return
    starts = list(dict.fromkeys(p.start for p in runs))
    rows = [_of_run(p) for p in runs]
    for number, (p, own) in enumerate(zip(runs, rows, strict=True), start=1):
        differing = [
            f"{name} {text}" for name, text in own.items() if text and any(row[name] != text for row in rows)
        ]
        parts = [_date(p), f"machine start {starts.index(p.start) + 1}", p.cpu, *differing]
        yield f"run {number}", ", ".join(filter(None, parts))


def _of_run(p: Provenance) -> dict[str, str]:
    """Return what is worth saying about a run if it was not the same in all."""
    return {
        "driver": p.driver,
        "CUDA": p.cuda,
        "compiler": p.compiler,
        "versions": _versions(p),
        "Python": p.python,
        "on": p.platform,
        "under": p.virtualisation,
        "clock source": p.clock_source,
        "commit": p.commit,
        _SHARED: "" if p.shared_host is None else f"{format_quantity(p.shared_host, 'share')} of the samples",
    }


def _versions(p: Provenance) -> str:
    return ", ".join(" ".join(pair) for pair in p.versions)


def _date(p: Provenance) -> str:
    return p.utc_date.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC")


def _span(ends: tuple[float, float] | None, unit: str) -> str:
    """Write the lowest and the highest reading, once if they are the same."""
    return " to ".join(dict.fromkeys(_amount(end, unit) for end in ends or ()))


def _memory(n_bytes: int) -> str:
    """Write the size of a cache as it is sold: in powers of two, 48 KiB."""
    return f"{n_bytes / 2**20:g} MiB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:g} KiB"


def _amount(value: float | None, unit: str) -> str:
    # Three digits, which tell 1.98 GHz from 2.02 GHz.
    return "" if value is None else format_quantity(value, unit, value * 0.996, value * 1.004)


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.setup_extension("sphinx_design")
    app.add_transform(PageFrame)
    app.add_transform(NumbersInCard)
