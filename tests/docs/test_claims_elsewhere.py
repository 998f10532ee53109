"""Claims are checked on every machine that recorded a page; the page's own decides about the build."""

from __future__ import annotations

import re
from dataclasses import replace

from mini_project import MACHINE, Project, words_of

from gpuguide.recordings import store
from gpuguide.recordings.findings import read_findings

LISTED = "What this page finds, and the machines on which it holds:"
CLAIM = "Sums: “numpy” is faster than “dot” at 2¹⁶"


def record_elsewhere(project: Project, gpu: str, dot_us: int | None, **changes: object) -> None:
    """Record the page `toy` on a machine with another time of one variant, or without it."""
    run = store.read(project.layout.recorded / MACHINE / "toy")
    # After the first machine by the alphabet, which is the page's own here.
    machine = f"test-{gpu.lower().replace(' ', '-')}"
    study = run.studies["sums"]
    cells = []
    for cell in study.measurements:
        if cell.variant == "dot" and dot_us is None:
            cell = replace(cell, samples_ns=(), rounds=(), n_calls=1, reason="it needs more memory")
        elif cell.variant == "dot" and cell.size == 65536:
            cell = replace(cell, samples_ns=(1000 * dot_us,) * 3)
        cells.append(cell)
    about = replace(run.provenance, machine=machine, gpu=gpu)
    studies = {"sums": replace(study, measurements=tuple(cells))}
    run = replace(run, runs=(), machine=machine, provenance=about, studies=studies)
    store.add(replace(run, **changes), project.layout.recorded)


def card(project: Project) -> str:
    ran = project.build()
    assert (ran.code, ran.output) == (0, "")
    return words_of(project.page()).partition("How this was measured")[2].partition(" GPU: ")[0]


def test_the_card_says_of_each_claim_where_it_holds(project):
    """A machine that has not measured it, or only other code, is not named."""
    own = store.read(project.layout.recorded / MACHINE / "toy")
    record_elsewhere(project, "NVIDIA H100 80GB HBM3", 300)
    record_elsewhere(project, "NVIDIA L4", 90)
    record_elsewhere(project, "NVIDIA T4", None)
    record_elsewhere(project, "NVIDIA GeForce GTX 1080", 300, key=replace(own.key, harness=0))
    found = card(project)
    where = r"A CPU.*? \(1 run, down to 3\.94×\), H100 \(1 run\), not on L4 \(1 run, down to 0\.89×\)"
    assert re.search(rf"{LISTED} {CLAIM} .*?: {where}", found), found
    assert "T4" not in found
    assert "1080" not in found


def test_a_build_writes_the_page_s_findings_for_the_package(project):
    assert project.build().code == 0
    (finding,) = read_findings("toy", project.layout.findings)
    assert (finding.study, finding.variant, finding.at, finding.than) == ("sums", "numpy", 65536, ("dot",))


def test_a_recording_elsewhere_is_noticed_and_only_then_drawn_anew(project):
    cache = project.layout.cache / "drawn" / "toy"
    assert re.search(rf"{CLAIM} .*?: A CPU[^:]*? \(1 run\)", card(project))
    before = list(cache.iterdir())
    card(project)
    assert list(cache.iterdir()) == before
    record_elsewhere(project, "NVIDIA L4", 90)
    assert "not on L4" in card(project)
    assert list(cache.iterdir()) != before
