"""The folded card at the end of a page: how, where and with what its numbers were measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from gpuguide.results.counters import COUNTERS
from gpuguide.results.starts import starts_words
from gpuguide.results.units import format_quantity, size_words
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.references import measured_on

if TYPE_CHECKING:
    from pathlib import Path

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.counters import Counted
    from gpuguide.results.records import Provenance
    from gpuguide_docs.pages.layout import Layout
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["CARD_ID", "CARD_TITLE", "card_node", "card_rows", "download"]

CARD_ID = "how-this-was-measured"
CARD_TITLE = "How this was measured"
_SHARED = "host shared during"


def card_node(page: Page, recording: Recording, layout: Layout) -> nodes.Element:
    """Build the card."""
    rows = nodes.field_list("", *(_field(name, nodes.Text(value)) for name, value in card_rows(recording)))
    rows += _field("raw files", *_raw_files(recording, layout.docs))
    rows += _field("how to cite", nodes.Text(_citation(page, recording)))
    # The identifier is inside: browsers unfold what holds the target of a link.
    counted = _counted(recording)
    inside = nodes.container("", *counted, rows, ids=[CARD_ID])
    # Nearly all pages have one with the same words, so a search for a driver would lead to all of them.
    return fold(CARD_TITLE, inside, classes=("gg-measured-card", "no-search"))


def card_rows(recording: Recording) -> list[tuple[str, str]]:
    """List what the card says, row by row; what a machine does not report is left out."""
    provenance = recording.provenance
    rows = [
        *_gpu(provenance),
        *_software(provenance),
        *_host(provenance),
        *_recorded(recording),
        *_runs(recording),
    ]
    return [(name, value) for name, value in rows if value]


def _counted(recording: Recording) -> list[nodes.Node]:
    """Build the table of the hardware counters: one row per counter, one column per variant and size."""
    cells = recording.counters
    if not cells:
        return []
    names = [name for name in COUNTERS if any(name in cell.names for cell in cells)]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in range(len(cells) + 1)), cols=len(cells) + 1)
    labels = [_label(recording, cell) for cell in cells]
    group += nodes.thead("", _texts(["counted once, caches empty", *labels]))
    body = nodes.tbody()
    for name in names:
        shown = [cell.shown(name) if name in cell.names else "" for cell in cells]
        body += _texts([COUNTERS[name].words, *shown])
    body += _texts(
        ["most frequent reason for waiting, in the profiler's words", *(c.longest.stall for c in cells)]
    )
    group += body
    table = nodes.table("", group, classes=["gg-counters"])
    # The target of evidence that is in no strip.
    table["counters"] = names
    return [table]


def _label(recording: Recording, cell: Counted) -> str:
    results = recording.studies[cell.study]
    return f"{results.variant(cell.variant).label}, {size_words(cell.size)} {results.size_name}"


def _texts(texts: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def _gpu(p: Provenance) -> Iterator[tuple[str, str]]:
    yield "GPU", p.gpu
    if p.compute_capability:
        yield "compute capability", ".".join(map(str, p.compute_capability))
    yield "SMs", str(p.sm_count or "")
    yield "L2 cache", _amount(p.l2_bytes, "B")
    yield "memory", _amount(p.memory_bytes, "B")
    clocks = [("SM", p.sm_clock_hz), ("memory", p.memory_clock_hz)]
    yield "clocks", ", ".join(f"{name} {_amount(value, 'Hz')}" for name, value in clocks if value)
    yield "power limit", _amount(p.power_limit_w, "W")
    yield "SM clock seen", _span(p.sm_clock_seen_hz, "Hz")
    yield "power seen", _span(p.power_seen_w, "W")
    if p.ecc is not None:
        yield "ECC", "on" if p.ecc else "off"


def _software(p: Provenance) -> Iterator[tuple[str, str]]:
    yield "driver", p.driver
    yield "CUDA", p.cuda
    yield "compiler", p.compiler
    yield "versions", ", ".join(" ".join(pair) for pair in p.versions)
    yield "Python", f"{p.python}, {p.platform}" if p.python else ""


def _host(p: Provenance) -> Iterator[tuple[str, str]]:
    counts = [(p.n_cpus, "logical CPUs"), (p.threads, "threads")]
    yield "CPU", ", ".join([p.cpu, *(f"{n} {what}" for n, what in counts if n)]) if p.cpu else ""
    yield "CPU clock", _amount(p.cpu_clock_hz, "Hz")
    yield "CPU caches", ", ".join(f"{name} {_memory(size)}" for name, size in p.cpu_caches)
    yield "host", ", ".join(text for text in (p.virtualisation, _clock_words(p)) if text)
    yield "BLAS", p.blas
    yield "steal time", _amount(p.steal_s, "s")


def _recorded(recording: Recording) -> Iterator[tuple[str, str]]:
    p = recording.provenance
    yield "date", _date(p)
    yield "commit", p.commit
    yield "harness", f"version {recording.key.harness}"
    yield "run", recording.name
    yield "run time", _amount(p.run_time_s, "s")
    yield "peak GPU memory", _amount(p.peak_memory_bytes, "B")


def _runs(recording: Recording) -> Iterator[tuple[str, str]]:
    """Describe each run: when it was, on which start and CPU, and what differed from the other runs."""
    described = recording.provenances
    n_runs = f", {len(described)} runs" if len(described) > recording.n_starts else ""
    yield "recorded on", f"{starts_words(recording.n_starts)}{n_runs}"
    if len(described) == 1:
        yield _SHARED, _of_a_run(recording.provenance)[_SHARED]
        return
    starts = list(dict.fromkeys(each.start for each in described))
    unlike = [_of_a_run(each) for each in described]
    for number, (p, own) in enumerate(zip(described, unlike, strict=True), start=1):
        said = [_date(p), f"machine start {starts.index(p.start) + 1}", p.cpu]
        differing = (name for name, text in own.items() if any(each[name] != text for each in unlike))
        said += [f"{name} {own[name]}" for name in differing if own[name]]
        yield f"run {number}", ", ".join(text for text in said if text)


def _of_a_run(p: Provenance) -> dict[str, str]:
    """Return what is worth saying about a run because it was not the same in all."""
    shared = "" if p.shared_host is None else format_quantity(p.shared_host, "share")
    return {
        "driver": p.driver,
        "CUDA": p.cuda,
        "compiler": p.compiler,
        "versions": ", ".join(" ".join(pair) for pair in p.versions),
        "Python": p.python,
        "on": p.platform,
        "under": p.virtualisation,
        "clock source": p.clock_source,
        "commit": p.commit,
        _SHARED: f"{shared} of the samples" if shared else "",
    }


def _date(p: Provenance) -> str:
    return p.utc_date.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC")


def _clock_words(p: Provenance) -> str:
    return f"time from {p.clock_source}" if p.clock_source else ""


def _span(ends: tuple[float, float] | None, unit: str) -> str:
    """Write the lowest and the highest reading, once if they are the same."""
    return "" if ends is None else " to ".join(dict.fromkeys(_amount(end, unit) for end in ends))


def _memory(n_bytes: int) -> str:
    """Write the size of a cache as it is sold: in powers of two, 48 KiB."""
    power = 2 if n_bytes >= 2**20 else 1
    return f"{n_bytes / 1024**power:g} {('KiB', 'MiB')[power - 1]}"


def _amount(value: float | None, unit: str) -> str:
    # Three digits, which tell 1.98 GHz from 2.02 GHz.
    return "" if value is None else format_quantity(value, unit, value * 0.996, value * 1.004)


def _field(name: str, *body: nodes.Node) -> nodes.field:
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", *body)))


def _raw_files(recording: Recording, docs: Path) -> Iterator[nodes.Node]:
    if recording.folder is None:
        return
    for number, name in enumerate(reversed(recording.files)):
        if number:
            yield nodes.Text(" · ")
        yield download(name, (recording.folder / name).relative_to(docs.parent).as_posix(), up=True)


def download(text: str, path: str, *, up: bool = False) -> addnodes.download_reference:
    """Link a file for readers to take away."""
    # Recordings lie outside the source folder, at which Sphinx begins such a path.
    target = f"/../{path}" if up else f"/{path}"
    label = nodes.inline("", text, classes=["gg-download"])
    return addnodes.download_reference("", "", label, reftarget=target, reftype="download", refdomain="")


def _citation(page: Page, recording: Recording) -> str:
    where, commit = measured_on(recording), recording.provenance.commit
    run = f"run {recording.name}" + (f", commit {commit}" if commit else "")
    return f"The gpuguide developers, “{page.title}”, gpuguide, measured on {where}, {run}."
