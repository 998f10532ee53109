"""Findings as data: what any machine's results say of a page's claims."""

import pytest

from gpuguide.recordings import store
from gpuguide.recordings.findings import ROOT, elsewhere, read_findings, write_findings
from gpuguide.recordings.recording import Stated
from gpuguide.results.claims import Faster, ReachesShare
from gpuguide.results.findings import Finding, judge
from study_results import SIZES, cell, make

PAGE = {"add": make()}
FASTER = Finding("add", "four", SIZES[1], ("one", "numpy"), 1.5)


@pytest.mark.parametrize(
    "claim", [Faster("four", ("one",), SIZES[1], 1.5, "device"), ReachesShare("four", SIZES[2], 0.5)]
)
def test_a_claim_is_written_and_read_back(claim, tmp_path):
    finding = Finding.of("add", claim)
    assert finding.claim == claim
    write_findings("page", (finding,), tmp_path)
    assert read_findings("page", tmp_path) == (finding,)
    write_findings("page", (), tmp_path)
    assert not list(tmp_path.iterdir())
    assert read_findings("page", tmp_path) == ()


@pytest.mark.parametrize(
    ("studies", "holds", "why"),
    [
        (PAGE, True, ""),
        ({"add": make(measurements=(cell("four", SIZES[1], 9_000), *make().measurements[:6]))}, False, ""),
        ({}, None, "the study was not measured"),
        ({"add": make(sizes=SIZES[:1], measurements=())}, None, "2^20 was not measured"),
        ({"add": make(variants=make().variants[1:], measurements=())}, None, "'numpy' was not measured"),
        ({"add": make(measurements=())}, None, "'four' was not measured"),
    ],
    ids=["holds", "does not", "no study", "no size", "no variant", "no samples"],
)
def test_a_finding_holds_or_not_or_was_not_measured(studies, holds, why):
    (verdict,) = judge((FASTER,), studies, PAGE)
    assert verdict.result.holds is holds
    assert why in verdict.why
    assert verdict.result.text.startswith("Add one: “Four a thread” is at least 1.5 times as fast as")


@pytest.mark.parametrize("page", sorted(path.stem for path in ROOT.glob("*.json")))
def test_each_finding_of_the_package_holds_on_the_guide_s_machine(page):
    """A file that was not built anew after an edit of the page names what is gone."""
    recording = store.load(page)
    stated = Stated(findings=read_findings(page))
    assert all(claim.holds for claim in elsewhere(stated, recording, recording).claims)
