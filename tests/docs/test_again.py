"""New medians are held against the ranges that the recordings print; too few inside, or too wide, fails."""

from __future__ import annotations

import dataclasses
import random
import re
import shutil

import pytest
from mini_project import MACHINE, Project, tree

from gpuguide.recordings import store as recordings
from gpuguide_docs.record import again
from gpuguide_docs.record.again import Reading, compare, leave_one_out, report, shortcomings


def reading(what="page: study[four, 10^3]", clock="device", start="a", median_s=1e-3, spread=0.0):
    return Reading(what, clock, start, (median_s * (1 - spread), median_s, median_s * (1 + spread)))


LANDED = [
    reading(start=start, median_s=1e-3 * factor) for start, factor in zip("abc", (1, 1.01, 1.02), strict=True)
]


def test_a_median_is_held_against_the_range_of_three_starts():
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.03e-3)])
    assert trial.is_inside
    assert trial.miss == 0
    assert trial.expected.value == pytest.approx(1.01e-3)
    assert trial.half_width == pytest.approx(0.0335, rel=0.02), "2.92 * sqrt(4 / 3) times the deviation"
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.06e-3)])
    assert not trial.is_inside
    assert trial.miss == pytest.approx(1.06e-3 / trial.expected.high - 1)
    (trial,) = compare(LANDED, [reading(start="d", median_s=0.9e-3)])
    assert trial.miss == pytest.approx(trial.expected.low / 0.9e-3 - 1)


def test_the_spread_inside_a_run_widens_the_range():
    landed = [dataclasses.replace(row, quartiles_s=reading(spread=0.2).quartiles_s) for row in LANDED]
    (trial,) = compare(landed, [reading(start="d", median_s=1.15e-3)])
    assert trial.is_inside


def test_runs_of_one_start_count_as_one():
    new = [reading(start="d", median_s=1e-3), reading(start="d", median_s=1.04e-3), reading(start="e")]
    first, second = compare([*LANDED, LANDED[0]], new)
    assert first.found_s == pytest.approx(1.0198e-3, rel=1e-3)
    assert second.found_s == pytest.approx(1e-3)
    assert first.expected.n_starts == 3


def test_a_cell_without_a_range_or_without_a_counterpart_is_not_judged():
    assert compare(LANDED[:2], [reading(start="d")]) == []
    assert compare(LANDED, [reading(start="d", clock="launch")]) == []


def test_each_start_is_told_from_the_others():
    rows = [*LANDED, reading(start="d", median_s=2e-3)]
    trials = leave_one_out(rows)
    assert len(trials) == 4
    assert [trial.is_inside for trial in trials] == [True, True, True, False]
    assert leave_one_out(LANDED) == [], "two starts have no range"


def cells(n, inside, clock="device", deviation=0.001):
    """Trials of n cells, of which `inside` lie in their ranges."""
    trials = []
    for i in range(n):
        landed = [
            reading(f"cell {i}", clock, start, 1e-3 * (1 + k * deviation)) for k, start in enumerate("abc")
        ]
        trials += compare(landed, [reading(f"cell {i}", clock, "d", 1e-3 if i < inside else 5e-3)])
    return trials


@pytest.mark.parametrize("clock", ["device", "launch", "host", "end_to_end"])
def test_below_85_per_cent_inside_fails_for_each_clock(clock):
    assert shortcomings(cells(20, 17, clock)) == []
    assert shortcomings(cells(20, 16, clock)) == [f"{clock}: 80.0% inside; at least 85% were expected"]


def test_fewer_than_twenty_medians_are_not_judged():
    assert shortcomings(cells(19, 0)) == []


def test_ranges_that_are_too_wide_fail_on_the_device_clock_alone():
    (line,) = shortcomings(cells(20, 20, deviation=0.02))
    assert line.startswith("device: half a range is ")
    assert shortcomings(cells(20, 20, "host", deviation=0.02)) == []


def test_the_report_counts_by_clock_and_names_the_worst_first():
    misses = [
        *compare(LANDED, [reading(start="d", median_s=1.2e-3)]),
        *compare(
            [dataclasses.replace(row, what="page: study[one, 10^3]") for row in LANDED],
            [reading("page: study[one, 10^3]", start="d", median_s=3e-3)],
        ),
    ]
    text = report([*cells(20, 20, "host"), *misses])
    assert re.search(r"^device +2 +0\.0% +3\.\d%$", text, re.MULTILINE)
    assert re.search(r"^host +20 +100\.0%", text, re.MULTILINE)
    assert text.index("study[one, 10^3], device: 3.0 ms, expected") < text.index(
        "study[four, 10^3], device: 1.2 ms"
    )


def test_most_starts_of_a_machine_without_drift_lie_in_the_ranges_of_three():
    """What `make again` counts is what a page promises: nine of ten, with the effect of a start as large."""
    rng = random.Random(11)
    new, landed = [], []
    for i in range(600):
        for start in "abcd":
            median_s = 1e-3 * rng.lognormvariate(0, 0.1)
            (new if start == "d" else landed).append(reading(f"cell {i}", "host", start, median_s))
    trials = compare(landed, new)
    inside = sum(trial.is_inside for trial in trials) / len(trials)
    assert 0.86 < inside < 0.94
    assert shortcomings(trials) == []


def run_of(recording, start, factor=1.0, hour=0):
    """One more run of a recording, on another start, in which everything takes `factor` times as long."""
    studies = {
        name: dataclasses.replace(
            study,
            measurements=tuple(
                dataclasses.replace(cell, samples_ns=tuple(round(ns * factor) for ns in cell.samples_ns))
                for cell in study.measurements
            ),
        )
        for name, study in recording.studies.items()
    }
    provenance = dataclasses.replace(
        recording.provenance, start=start, utc_date=f"2026-01-01T{hour:02}:00:00Z", run_time_s=1.0
    )
    return dataclasses.replace(recording, studies=studies, provenance=provenance, runs=())


@pytest.fixture
def mini(recorded_template, tmp_path, monkeypatch):
    """The recorded project with toy on three starts, entered; and one run of toy to make others of."""
    root = tmp_path / "mini"
    shutil.copytree(recorded_template.root, root)
    monkeypatch.chdir(root)
    project = Project(root)
    folder = project.layout.recorded / MACHINE / "toy"
    recording = recordings.read(folder)
    shutil.rmtree(project.layout.recorded / MACHINE)
    for hour, (start, factor) in enumerate((("a", 1.0), ("b", 1.02), ("c", 0.98))):
        recordings.add(run_of(recording, start, factor, hour), project.layout.recorded)
    return project, recording


@pytest.mark.parametrize(("factor", "code"), [(1.01, 0), (10_000.0, 1)])
def test_what_was_recorded_elsewhere_is_held_against_the_ranges(
    mini, tmp_path, monkeypatch, capsys, factor, code
):
    _, recording = mini
    monkeypatch.setattr(again, "LEAST_MEDIANS", 4)
    recordings.add(run_of(recording, "d", factor, 3), tmp_path / "kept")
    assert again.main(["toy", "--recorded", str(tmp_path / "kept")]) == code
    printed = capsys.readouterr().out
    assert re.search(rf"^host +4 +{'0' if code else '100'}\.0%", printed, re.MULTILINE)
    assert ("FAILED  host: 0.0% inside" in printed) == bool(code)
    assert ("toy: sums[dot, 65,536], host" in printed or "toy: sums[dot, 2^16], host" in printed) == bool(
        code
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"start": "b"}, "start b of the machine is known already"),
        ({"start": "d", "gpu": "NVIDIA H100"}, "the GPU was 'none' and is 'NVIDIA H100'"),
    ],
)
def test_what_cannot_be_compared_is_named_and_nothing_is_judged(mini, tmp_path, capsys, change, reason):
    _, recording = mini
    new = run_of(recording, "d")
    new = dataclasses.replace(new, provenance=dataclasses.replace(new.provenance, **change))
    recordings.add(new, tmp_path / "kept")
    assert again.main(["--recorded", str(tmp_path / "kept")]) == 2
    said = capsys.readouterr()
    assert f"toy: not compared, {'for ' if 'gpu' in change else ''}{reason}" in said.out
    assert said.err == "Nothing to judge: no page has ranges; they take three machine starts.\n"


def test_the_landed_starts_are_told_from_each_other(mini, capsys):
    project, recording = mini
    assert again.main(["--leave-one-out"]) == 2
    assert "it takes four machine starts" in capsys.readouterr().err
    recordings.add(run_of(recording, "d", 1.01, 4), project.layout.recorded)
    assert again.main(["--leave-one-out"]) == 0
    assert re.search(r"^host +16 +100\.0%", capsys.readouterr().out, re.MULTILINE)
    recordings.add(run_of(recording, "e", 20.0, 5), project.layout.recorded)
    assert again.main(["--leave-one-out"]) == 1


def test_an_unknown_page_names_the_nearest(mini, capsys):
    assert again.main(["tyo", "--leave-one-out"]) == 2
    assert "'toy'" in capsys.readouterr().err


def test_a_fresh_start_is_recorded_beside_the_recordings_and_held_against_them(mini, tmp_path):
    project, _ = mini
    before = project.recordings()
    options = ("toy", "--machine", MACHINE, "--allow-cpu", "--into", str(tmp_path / "kept"))
    ran = project.run("-m", "gpuguide_docs.record.again", *options)
    assert ran.code == 0, ran.output
    assert "toy: recorded (run 1, machine start 1)" in ran.output
    assert re.search(r"^host +4 ", ran.output, re.MULTILINE)
    assert project.recordings() == before
    assert {path.split("/")[1] for path in tree(tmp_path / "kept")} == {"toy"}


def test_a_start_that_was_recorded_is_not_recorded_again(mini, monkeypatch, capsys):
    project, recording = mini
    recordings.add(run_of(recording, "0" * 12, 1.0, 4), project.layout.recorded)
    monkeypatch.setattr("gpuguide.machine.host.start_of_machine", lambda: "0" * 12)
    assert again.main(["toy", "--machine", MACHINE, "--allow-cpu"]) == 2
    assert "this start of the machine is in the recordings already" in capsys.readouterr().err
