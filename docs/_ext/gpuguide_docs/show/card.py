"""The folded card at the end of a page: how, where and with what its numbers were measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from gpuguide.results.units import format_quantity
from gpuguide_docs.show.folded import fold
from gpuguide_docs.show.references import measured_on

if TYPE_CHECKING:
    from pathlib import Path

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.records import Provenance
    from gpuguide_docs.pages.pages_toml import Page

__all__ = ["CARD_ID", "card_node", "card_rows", "download"]

CARD_ID = "how-this-was-measured"


def card_node(page: Page, recording: Recording, docs: Path) -> nodes.Element:
    """Build the card.

    Parameters
    ----------
    page : Page
        The page that it stands on.
    recording : Recording
        Of that page.
    docs : Path
        Sphinx's source folder, from which downloads are named.

    Returns
    -------
    docutils.nodes.Element
        Folded; a link to `CARD_ID` opens it.
    """
    rows = nodes.field_list("", *(_field(name, nodes.Text(value)) for name, value in card_rows(recording)))
    rows += _field("raw files", *_raw_files(recording, docs))
    rows += _field("how to cite", nodes.Text(_citation(page, recording)))
    # The identifier is inside: browsers unfold what holds the target of a link.
    return fold(
        "How this was measured", nodes.container("", rows, ids=[CARD_ID]), classes=("gg-measured-card",)
    )


def card_rows(recording: Recording) -> list[tuple[str, str]]:
    """List what the card says, row by row; what a machine does not tell is left out.

    Parameters
    ----------
    recording : Recording
        Of the page.

    Returns
    -------
    list of (str, str)
        Name and text.
    """
    provenance = recording.provenance
    rows = [*_gpu(provenance), *_software(provenance), *_host(provenance), *_run(recording)]
    return [(name, value) for name, value in rows if value]


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
    yield "BLAS", p.blas
    yield "steal time", _amount(p.steal_s, "s")


def _run(recording: Recording) -> Iterator[tuple[str, str]]:
    p = recording.provenance
    yield "date", p.utc_date.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC")
    yield "commit", p.commit
    yield "measuring key", recording.keys.measuring[:16]
    yield "run", recording.run_id
    yield "run time", _amount(p.run_time_s, "s")
    yield "peak GPU memory", _amount(p.peak_memory_bytes, "B")


def _amount(value: float | None, unit: str) -> str:
    # Three digits, which tell 1.98 GHz from 2.02 GHz.
    return "" if value is None else format_quantity(value, unit, value * 0.996, value * 1.004)


def _field(name: str, *body: nodes.Node) -> nodes.field:
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", *body)))


def _raw_files(recording: Recording, docs: Path) -> Iterator[nodes.Node]:
    if recording.folder is None:
        return
    for number, name in enumerate(("run.json", "measurements.json")):
        if number:
            yield nodes.Text(" · ")
        yield download(name, (recording.folder / name).relative_to(docs.parent).as_posix(), up=True)


def download(text: str, path: str, *, up: bool = False) -> addnodes.download_reference:
    """Link a file for readers to take away.

    Parameters
    ----------
    text : str
        What readers click on.
    path : str
        From Sphinx's source folder, or from the folder above it.
    up : bool
        Whether it is from the folder above.

    Returns
    -------
    sphinx.addnodes.download_reference
        Sphinx copies the file and sets the address.
    """
    target = f"/../{path}" if up else f"/{path}"
    label = nodes.inline("", text, classes=["gg-download"])
    return addnodes.download_reference("", "", label, reftarget=target, reftype="download", refdomain="")


def _citation(page: Page, recording: Recording) -> str:
    where, commit = measured_on(recording.provenance), recording.provenance.commit
    run = f"run {recording.run_id}" + (f", commit {commit}" if commit else "")
    return f"The gpuguide developers, “{page.title}”, gpuguide, measured on {where}, {run}."
