"""New medians are held against the ranges that the recordings print; too few inside, or too wide, fails."""

from __future__ import annotations

import dataclasses
import random
import re
import shutil

import pytest
from mini_project import MACHINE, Project

from gpuguide.recordings import store as recordings
from gpuguide.recordings.fresh_starts import read_fresh_starts
from gpuguide_docs.record import again, trials
from gpuguide_docs.record.trials import Reading, compare, leave_one_out, shortcomings


def reading(what="page: study[four, 10^3]", clock="device", start="a", median_s=1e-3, spread=0.0):
    return Reading(what, clock, start, (median_s * (1 - spread), median_s, median_s * (1 + spread)))


LANDED = [
    reading(start=start, median_s=1e-3 * factor) for start, factor in zip("abc", (1, 1.01, 1.02), strict=True)
]


def test_a_median_is_held_against_the_range_of_three_starts():
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.03e-3)])
    assert trial.is_inside
    assert trial.expected.value == pytest.approx(1.01e-3)
    assert trial.half_width == pytest.approx(0.0335, rel=0.02), "2.92 * sqrt(4 / 3) times the deviation"
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.06e-3)])
    assert not trial.is_inside
    assert trial.miss == pytest.approx(1.06e-3 / trial.expected.high - 1)
    landed = [dataclasses.replace(row, quartiles_s=reading(spread=0.2).quartiles_s) for row in LANDED]
    (trial,) = compare(landed, [reading(start="d", median_s=1.15e-3)])
    assert trial.is_inside, "the spread inside a run widens the range"


def test_runs_of_one_start_count_as_one_and_what_has_no_range_is_not_judged():
    new = [reading(start="d", median_s=1e-3), reading(start="d", median_s=1.04e-3), reading(start="e")]
    first, second = compare([*LANDED, LANDED[0]], new)
    assert first.found_s == pytest.approx(1.0198e-3, rel=1e-3)
    assert second.found_s == pytest.approx(1e-3)
    assert first.expected.n_starts == 3
    assert compare(LANDED[:2], [reading(start="d")]) == []
    assert compare(LANDED, [reading(start="d", clock="launch")]) == []


def test_each_start_is_told_from_the_others():
    trials = leave_one_out([*LANDED, reading(start="d", median_s=2e-3)])
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


def test_below_85_per_cent_inside_or_ranges_that_are_too_wide_fail():
    for clock in ("device", "host"):
        assert shortcomings(cells(20, 17, clock)) == []
        (line,) = shortcomings(cells(20, 16, clock))
        assert line.startswith(f"{clock}: 80.0% inside")
    assert shortcomings(cells(19, 0)) == [], "too few to judge"
    (line,) = shortcomings(cells(20, 20, deviation=0.02))
    assert line.startswith("device: half a range is ")
    assert shortcomings(cells(20, 20, "host", deviation=0.02)) == []


def test_most_starts_of_a_machine_without_drift_lie_in_the_ranges_of_three():
    """What `make again` counts is what a page promises: nine of ten, with the effect of a start as large."""
    rng = random.Random(11)
    new, landed = [], []
    for i in range(600):
        for start in "abcd":
            median_s = 1e-3 * rng.lognormvariate(0, 0.1)
            (new if start == "d" else landed).append(reading(f"cell {i}", "host", start, median_s))
    trials = compare(landed, new)
    assert 0.86 < sum(trial.is_inside for trial in trials) / len(trials) < 0.94
    assert shortcomings(trials) == []


def run_of(recording, start, factor=1.0, hour=0, **changes):
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
    date = f"2026-01-{1 + hour // 24:02}T{hour % 24:02}:00:00Z"
    provenance = dataclasses.replace(recording.provenance, start=start, utc_date=date, **changes)
    return dataclasses.replace(recording, studies=studies, provenance=provenance, runs=())


@pytest.fixture
def mini(recordable: Project, monkeypatch):
    """The recorded project with toy on three starts, entered; and one run of toy to make others of."""
    monkeypatch.chdir(recordable.root)
    recording = recordings.read(recordable.layout.recorded / MACHINE / "toy")
    shutil.rmtree(recordable.layout.recorded / MACHINE)
    for hour, (start, factor) in enumerate((("a", 1.0), ("b", 1.02), ("c", 0.98))):
        recordings.add(run_of(recording, start, factor, hour), recordable.layout.recorded)
    return recordable, recording


@pytest.mark.parametrize(("factor", "code"), [(1.01, 0), (10_000.0, 1)])
def test_what_was_recorded_elsewhere_is_held_against_the_ranges(
    mini, tmp_path, monkeypatch, capsys, factor, code
):
    _, recording = mini
    monkeypatch.setattr(trials, "LEAST_MEDIANS", 4)
    recordings.add(run_of(recording, "d", factor, 24), tmp_path / "kept")
    assert again.main(["toy", "--recorded", str(tmp_path / "kept")]) == code
    printed = capsys.readouterr().out
    assert re.search(rf"^host +7 +{'0' if code else '100'}\.0%", printed, re.MULTILINE)
    assert ("FAILED  host: 0.0% inside" in printed) == bool(code)
    assert ("toy: sums[dot, 2^16], host" in printed) == bool(code)
    (row,) = read_fresh_starts(mini[0].layout.recorded / MACHINE)
    assert (row.start, row.pages, row.inside["host"]) == ("d", ("toy",), (0 if code else 7, 7))


def test_a_recording_of_another_day_is_compared_with_the_ranges_before_it(mini):
    project, recording = mini
    root = project.layout.recorded
    former = {"toy": recordings.load("toy", MACHINE, root)}
    recordings.add(run_of(recording, "d", 1.01, 4), root)
    trials.keep_recorded(root, MACHINE, former)
    assert read_fresh_starts(root / MACHINE) == (), "of the same day"
    recordings.add(run_of(recording, "e", 1.01, 24), root)
    trials.keep_recorded(root, MACHINE, former)
    (row,) = read_fresh_starts(root / MACHINE)
    assert (row.start, row.day, row.recorded_on) == ("e", "2026-01-02", ("2026-01-01",))
    assert row.share("host") == 1
    trials.keep_recorded(root, MACHINE, former)
    assert read_fresh_starts(root / MACHINE) == (row,), "a page counts once"


@pytest.mark.parametrize(
    ("start", "changes", "reason"),
    [("b", {}, "start b of the machine is known"), ("d", {"gpu": "NVIDIA H100"}, "'NVIDIA H100'")],
)
def test_what_cannot_be_compared_is_named_and_nothing_is_judged(
    mini, tmp_path, capsys, start, changes, reason
):
    _, recording = mini
    recordings.add(run_of(recording, start, **changes), tmp_path / "kept")
    assert again.main(["--recorded", str(tmp_path / "kept")]) == 2
    said = capsys.readouterr()
    assert "toy: not compared" in said.out
    assert reason in said.out
    assert said.err.startswith("Nothing to judge")


def test_the_landed_starts_are_told_from_each_other(mini, capsys):
    project, recording = mini
    assert again.main(["--leave-one-out"]) == 2, "it takes four machine starts"
    recordings.add(run_of(recording, "d", 1.01, 4), project.layout.recorded)
    assert again.main(["--leave-one-out"]) == 0
    assert re.search(r"^host +28 +100\.0%", capsys.readouterr().out, re.MULTILINE)
    recordings.add(run_of(recording, "e", 20.0, 5), project.layout.recorded)
    assert again.main(["--leave-one-out"]) == 1
    assert again.main(["tyo", "--leave-one-out"]) == 2
    assert "'toy'" in capsys.readouterr().err


def test_a_fresh_start_is_recorded_beside_the_recordings_and_only_once(mini, tmp_path, monkeypatch, capsys):
    project, recording = mini
    before = project.recordings()
    options = ["toy", "--machine", MACHINE, "--allow-cpu", "--into", str(tmp_path / "kept")]
    ran = project.run("-m", "gpuguide_docs.record.again", *options)
    assert "toy: recorded (run 1, machine start 1)" in ran.output
    assert project.recordings() == before
    recordings.add(run_of(recording, "0" * 12, 1.0, 4), project.layout.recorded)
    monkeypatch.setattr("gpuguide.machine.host.start_of_machine", lambda: "0" * 12)
    assert again.main(options) == 2
    assert "this start of the machine is in the recordings already" in capsys.readouterr().err
