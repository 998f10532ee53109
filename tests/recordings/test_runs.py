"""Several runs of a page: added, aged, begun anew, read back; refused when they do not belong together."""

from __future__ import annotations

import dataclasses
import errno
import json
import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_store import MACHINE, PAGE, folder_of, hash_again, provenance, recording

from gpuguide.errors import RecordingError
from gpuguide.measure.kept import written_down
from gpuguide.recordings import format
from gpuguide.recordings import store as recordings
from gpuguide.recordings.earlier import earlier_of, runs_of
from gpuguide.recordings.keys import measuring_key
from gpuguide.recordings.recompute import recompute
from gpuguide.recordings.recording import FormerRun, Recording, RunEntry
from gpuguide.recordings.runs import MOST_RUNS, add_run, over_starts
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Fact, Measurement, Summary, Work
from gpuguide.results.results import Results

KERNEL = 3
"""Place of the first cell that the device clock timed, in the sample study."""


def run(n: int, start: str = "", factor: float = 1, **changes: Any) -> Recording:
    """One run, a day after the run before it, on a machine start of its own; times by a factor."""
    made = recording(n=n)
    study = made.studies["sample"]
    cells = tuple(
        dataclasses.replace(cell, samples_ns=tuple(round(factor * ns) for ns in cell.samples_ns))
        for cell in study.measurements
    )
    about = dataclasses.replace(
        provenance(), utc_date=f"2026-11-{n + 1:02}T10:00:00Z", start=start or f"start {n}", **changes
    )
    studies = {"sample": dataclasses.replace(study, measurements=cells)}
    return dataclasses.replace(made, provenance=about, studies=studies)


def added(*made: Recording) -> Recording:
    whole = None
    for each in made:
        whole, _ = add_run(whole, each)
    assert whole is not None
    return whole


def dates(whole: Recording) -> list[str]:
    return [each.provenance.utc_date[8:10] for each in (*whole.runs, whole)]


# Added


def test_a_new_run_is_the_newest_and_the_former_one_is_summarised() -> None:
    whole = added(run(0), run(1, factor=1.01))
    (former,) = whole.runs
    cell = former.studies["sample"].measurements[KERNEL]
    assert (cell.samples_ns, cell.rounds) == ((), ())
    assert cell.summary == run(0).studies["sample"].measurements[KERNEL].summarised().summary
    assert former.facts == {"first_call": Fact("first_call", 0.5, "s")}
    assert former.ceilings == Ceilings((Ceiling("two_to_one", 4e12, "B/s"),))
    assert former.studies["sample"].ceilings == former.ceilings
    assert former.studies["sample"].warnings == ("run 0",)
    assert whole.studies == run(1, factor=1.01).studies
    assert whole.cells == run(1).cells


def test_what_was_added_is_read_back_equal_and_is_one_cell_a_line(tmp_path: Path) -> None:
    for n in range(3):
        saved = recordings.save(run(n, factor=1 + n / 1000), tmp_path)
    assert recordings.validate(folder_of(saved)) == saved
    assert dates(saved) == ["01", "02", "03"]
    text = (folder_of(saved) / "earlier.json").read_text()
    assert sum('["numba",' in line or '["numpy",' in line for line in text.splitlines()) == 6
    assert '["numba",1024,"device",[[10,1,null,' in text
    assert ".0" not in text.split('"cells"')[1], "whole nanoseconds are written as integers"


def test_the_same_run_saved_twice_is_one_run_and_the_same_bytes(tmp_path: Path) -> None:
    for root in (tmp_path / "a", tmp_path / "b"):
        for n in (0, 1):
            saved = recordings.save(run(n), root)
    one, other = ({p.name: p.read_bytes() for p in (tmp_path / r / MACHINE / PAGE).iterdir()} for r in "ab")
    assert one == other
    again, warnings = recordings.add(run(1), tmp_path / "b")
    assert (again, warnings) == (saved, ())
    assert one == {path.name: path.read_bytes() for path in folder_of(saved).iterdir()}


def test_studies_know_their_former_runs_and_facts_are_taken_over_the_starts(tmp_path: Path) -> None:
    for n, value in enumerate((0.4, 0.5, 0.7)):
        made = dataclasses.replace(run(n), facts={"first_call": Fact("first_call", value, "s")})
        saved = recordings.save(made, tmp_path)
    loaded = recordings.load(PAGE, root=tmp_path)
    study = loaded.studies["sample"]
    assert [each.start for each in study.runs] == ["start 0", "start 1", "start 2"]
    assert [each.warnings for each in study.others] == [("run 0",), ("run 1",)]
    assert [each.measurements[KERNEL].median_s for each in study.runs] == [3e-6] * 3
    assert loaded.facts["first_call"].value == 0.5
    assert recordings.load_or_none(PAGE, root=tmp_path) == loaded
    assert recordings.read(folder_of(saved)).facts["first_call"].value == 0.7


def test_a_loaded_recording_is_saved_without_what_was_filled_in(tmp_path: Path) -> None:
    recordings.save(run(0), tmp_path / "a")
    recordings.save(run(1), tmp_path / "a")
    loaded = recordings.load(PAGE, root=tmp_path / "a")
    copied = recordings.save(dataclasses.replace(loaded, facts=run(1).facts), tmp_path / "b")
    assert recordings.read(folder_of(copied)).studies["sample"].others == ()
    assert dates(copied) == ["01", "02"]


def test_a_run_that_joins_others_is_one_run() -> None:
    with pytest.raises(RecordingError, match=r"runs: expected one new run .* got 2 runs"):
        add_run(run(3), added(run(0), run(1)))


def test_cells_without_samples_odd_rounds_and_own_ceilings_are_kept(tmp_path: Path) -> None:
    def changed(n: int, *cells: Measurement, **of_study: Any) -> Recording:
        made = run(n)
        study = made.studies["sample"]
        kept = (*cells, *study.measurements[len(cells) :])
        return dataclasses.replace(
            made, studies={"sample": dataclasses.replace(study, measurements=kept, **of_study)}
        )

    absent = Measurement("numpy", 1024, "host", reason="too slow", method="host")
    odd = Measurement(
        "numpy",
        1024,
        "host",
        (5, 7),
        (1, 4),
        n_calls=3,
        method="batch",
        floor_ns=2,
        notes=("two modes",),
        work=(Work("marks", 8),),
    )
    recordings.save(changed(0, absent, ceilings=None), tmp_path)
    recordings.save(changed(1, odd, ceilings=Ceilings((Ceiling("read", 1.0, "B/s"),))), tmp_path)
    saved = recordings.save(run(2), tmp_path)
    first, second = (each.studies["sample"] for each in recordings.validate(folder_of(saved)).runs)
    assert first.measurements[0] == dataclasses.replace(absent, traffic=first.measurements[0].traffic)
    assert second.measurements[0].summary == Summary(2, (5.5, 6, 6.5), (1, 4), (5, 7))
    assert second.measurements[0].work == (Work("marks", 8),)
    assert (second.measurements[0].notes, second.measurements[0].floor_ns) == (("two modes",), 2)
    assert (first.ceilings, second.ceilings) == (None, Ceilings((Ceiling("read", 1.0, "B/s"),)))


def test_kept_arrays_are_recorded_and_found_in_the_newest_run(tmp_path: Path) -> None:
    image = np.arange(6, dtype="int16").reshape(2, 3)
    recordings.save(run(0), tmp_path)
    saved = recordings.save(dataclasses.replace(run(1), arrays={"image": written_down(image)}), tmp_path)
    assert len(saved.runs) == 1
    back = recordings.validate(folder_of(saved))
    assert back == saved
    np.testing.assert_array_equal(back.arrays["image"].array(), image)
    assert " 1 array: image" in repr(back)
    (folder_of(saved) / "arrays.json").unlink()
    with pytest.raises(RecordingError, match=r"arrays\.json: the file is missing"):
        recordings.read(folder_of(saved))
    recordings.save(run(2), tmp_path)


# Aged


def test_nine_runs_stay_and_the_oldest_leaves() -> None:
    whole = added(*(run(n) for n in range(MOST_RUNS + 2)))
    assert dates(whole) == [f"{n:02}" for n in range(3, 12)]


def test_a_large_page_keeps_the_runs_of_three_starts() -> None:
    whole: Recording | None = None
    for n in range(6):
        whole, _ = add_run(whole, run(n, start=f"start {n // 2}"), lambda _: False)
    assert whole is not None
    assert dates(whole) == ["02", "03", "04", "05", "06"], "dropping one more would leave two starts"


def test_the_oldest_run_leaves_a_page_that_gets_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        saved = recordings.save(run(n), tmp_path)
    size = sum(path.stat().st_size for path in folder_of(saved).iterdir())
    monkeypatch.setattr(format, "MOST_PAGE_BYTES", size)
    saved = recordings.save(run(4), tmp_path)
    assert dates(saved) == ["02", "03", "04", "05"]
    alone = recordings.save(run(0), tmp_path / "alone")
    least = sum(path.stat().st_size for path in folder_of(alone).iterdir())
    monkeypatch.setattr(format, "MOST_PAGE_BYTES", least)
    saved = recordings.save(run(5), tmp_path)
    assert dates(saved) == ["04", "05", "06"], "three starts stay in more room than a page has"


# Begun anew

OTHERS: dict[str, tuple[Callable[[], Recording], str]] = {
    "code": (
        lambda: dataclasses.replace(run(1), keys=measuring_key(["x = 1", "x = 2"], []), cells=()),
        "the measured code changed",
    ),
    "driver": (lambda: run(1, driver="590"), "the driver was 'x' and is '590'"),
    "CUDA": (lambda: run(1, cuda="13.1"), "CUDA was 'x' and is '13.1'"),
    "GPU": (lambda: run(1, gpu="B200"), "the GPU was 'x' and is 'B200'"),
    "package": (lambda: run(1, versions=(("numpy", "2.5"),)), "numpy was absent and is 2.5"),
    "Python": (lambda: run(1, python="3.13.0"), "Python was x and is 3.13"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_key_version_or_gpu_begins_anew_and_says_so(name: str, tmp_path: Path) -> None:
    make, why = OTHERS[name]
    recordings.save(run(0), tmp_path)
    saved, warnings = recordings.add(make(), tmp_path)
    assert saved.runs == ()
    assert warnings == (f"the recording begins anew, and the former run leaves: {why}",)
    assert recordings.read(folder_of(saved)) == saved
    assert not (folder_of(saved) / "earlier.json").exists()


def test_another_patch_of_python_another_commit_and_blas_are_no_other_recording() -> None:
    whole = added(run(0, python="3.12.3", commit="a"), run(1, python="3.12.9", commit="b", platform="y"))
    assert len(whole.runs) == 1


def test_a_recording_of_another_form_is_replaced_and_a_damaged_one_kept_aside(tmp_path: Path) -> None:
    folder = folder_of(recordings.save(run(0), tmp_path))
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"schema_version": 1', '"schema_version": 0'))
    _, (warning,) = recordings.add(run(1), tmp_path)
    assert "begins anew, because it was written in another form: " in warning
    assert "schema_version: expected 1, got 0" in warning
    damaged = (folder / "measurements.json").read_bytes() + b" "
    (folder / "measurements.json").write_bytes(damaged)
    saved, (warning,) = recordings.add(run(2), tmp_path)
    assert "damaged (kept beside it as damaged-*.json): " in warning
    assert (folder / "damaged-measurements.json").read_bytes() == damaged
    assert recordings.validate(folder) == saved


# Unexpected


def test_a_run_outside_the_range_is_a_warning_that_names_the_worst_cells() -> None:
    former = added(run(0), run(1), run(2))
    whole, (warning,) = add_run(former, run(3, factor=1.5))
    assert len(whole.runs) == 3, "it is kept: a valid run is never discarded"
    assert warning.startswith("3 of 3 device times left the range of the former runs by more than 5%")
    assert "sample 'numba' at 2^10 took 4.5 µs, 2.97 µs to 3.03 µs was expected" in warning
    assert "numpy" not in warning


@pytest.mark.parametrize(("factor", "n_warnings"), [(1.03, 0), (1.1, 1), (0.97, 0), (0.9, 1)])
def test_five_per_cent_outside_is_the_limit(factor: float, n_warnings: int) -> None:
    assert len(add_run(added(run(0), run(1), run(2)), run(3, factor=factor))[1]) == n_warnings


# Refused


def test_other_cells_under_an_equal_key_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    saved = recordings.save(run(0), tmp_path)
    before = {path: path.read_bytes() for path in folder_of(saved).iterdir()}
    made = run(1)
    study = made.studies["sample"]
    fewer = dataclasses.replace(study, measurements=study.measurements[:-1])
    for studies, words in (
        ({"sample": fewer}, r"\('sample', 'numba', 67108864, 'device'\) is gone"),
        ({}, r"is gone"),
    ):
        names = {"results": "sample"} if studies else {}
        cells = made.cells if studies else ()
        with pytest.raises(RecordingError, match=rf"measurements.json: studies: expected the cells.*{words}"):
            recordings.add(dataclasses.replace(made, studies=studies, names=names, cells=cells), tmp_path)
    assert before == {path: path.read_bytes() for path in folder_of(saved).iterdir()}


def test_a_cell_that_took_too_long_in_one_run_is_no_other_cell(tmp_path: Path) -> None:
    """Its launch time is missing as well; on the next start both may be there again."""

    def launched(n: int) -> Recording:
        made = run(n)
        study = made.studies["sample"]
        launch = dataclasses.replace(study.measurements[-1], clock="launch")
        return with_study(made, dataclasses.replace(study, measurements=(*study.measurements, launch)))

    def with_study(made: Recording, study: Results) -> Recording:
        return dataclasses.replace(made, studies={"sample": study})

    made = launched(1)
    study = made.studies["sample"]
    *others, own, _ = study.measurements
    skipped = dataclasses.replace(own, samples_ns=(), rounds=(), reason="skipped: it takes too long")
    for each in (
        launched(0),
        with_study(made, dataclasses.replace(study, measurements=(*others, skipped))),
        launched(2),
    ):
        recordings.save(each, tmp_path)
    found = recordings.load(made.page, root=tmp_path).studies["sample"]
    assert found.time(own.variant, own.size).n_starts == 2
    assert found.time(own.variant, own.size, "launch").n_starts == 1  # gone with the run that lacked it
    assert found.time(others[0].variant, others[0].size).n_starts == 3


def test_a_clock_that_goes_backwards_is_refused(tmp_path: Path) -> None:
    saved = recordings.save(run(5), tmp_path)
    with pytest.raises(RecordingError, match=r"run.json: provenance.utc_date: .*backwards.*got 2026-11-05"):
        recordings.save(run(4), tmp_path)
    assert recordings.read(folder_of(saved)) == saved


def test_two_runs_at_once_may_end_in_either_order() -> None:
    late = run(5)
    about = dataclasses.replace(late.provenance, run_time_s=60.0)
    early = dataclasses.replace(run(4).provenance, utc_date="2026-11-06T09:59:30Z")
    whole = added(dataclasses.replace(late, provenance=about), dataclasses.replace(run(4), provenance=early))
    assert len(whole.runs) == 1


@pytest.mark.parametrize("ns", [0, -5])
def test_times_that_are_none_are_refused(ns: int, tmp_path: Path) -> None:
    made = run(0)
    cell = made.studies["sample"].measurements[0]
    samples = (ns, *cell.samples_ns[1:])
    object.__setattr__(cell, "samples_ns", samples)
    with pytest.raises(RecordingError, match=r"measurements\[0\]\.samples_ns: expected times above 0 ns"):
        recordings.save(made, tmp_path)


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Change a file by hand, and all hashes and ids that cover it."""

    def apply(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, (old, text)
        (folder / name).write_text(text.replace(old, new, 1))

    return apply


def forged(folder: Path) -> None:
    """Make every hash and the run id fit what the files say now, as a patient forger does."""
    manifest = json.loads((folder / "run.json").read_text())
    for entry in manifest["files"]:
        data = (folder / entry["name"]).read_text()
        bare = data.replace(f'"run_id": "{manifest["run_id"]}"', '"run_id": ""', 1)
        entry["content"] = format.sha256(bare.encode())
    (folder / "run.json").write_text(json.dumps(manifest))
    new = format.run_id_of(format.read_manifest(folder))
    for entry in manifest["files"]:
        path = folder / entry["name"]
        path.write_text(path.read_text().replace(manifest["run_id"], new, 1))
    (folder / "run.json").write_text(json.dumps({**manifest, "run_id": new}))
    hash_again(folder)


FORMER = '"start":"start 0"'
BY_HAND: dict[str, tuple[Callable[[Path], None], str]] = {
    "another GPU": (
        edited(
            "run.json",
            '"provenance":{"machine":"nvidia-h200","gpu":"x"',
            '"provenance":{"machine":"nvidia-h200","gpu":"y"',
        ),
        "run.json: runs[0].provenance: expected a run of the same code, versions, machine and GPU; "
        "got the GPU was 'y' and is 'x'.",
    ),
    "another machine": (
        edited("run.json", '"provenance":{"machine":"nvidia-h200"', '"provenance":{"machine":"mine"'),
        "the machine was 'mine' and is 'nvidia-h200'",
    ),
    "another key": (edited("run.json", '"measuring":"', '"measuring":"0'), "run.json: runs[0].measuring"),
    "a later date": (
        edited("run.json", '"utc_date":"2026-11-01', '"utc_date":"2027-11-01'),
        "run.json: provenance.utc_date: expected a run that did not end before",
    ),
    "no date": (edited("run.json", '"utc_date":"2026-11-01', '"utc_date":"?'), "runs[0].provenance.utc_date"),
    "another schema": (
        edited("earlier.json", '"schema_version": 1', '"schema_version": 7'),
        "earlier.json: schema_version: expected 1, got 7",
    ),
    "another size": (
        edited("earlier.json", '["numba",1024', '["numba",1025'),
        "earlier.json: cells.sample[3]: expected the newest run's cell ('numba', 1024, 'device')",
    ),
    "another study": (
        edited("earlier.json", '"sample": [', '"simple": ['),
        "earlier.json: cells: expected the",
    ),
    "quartiles out of order": (
        edited("earlier.json", ",3000,30", ",3900,30"),
        "earlier.json: cells.sample[3][3][0]: Summary: expected three quartiles in order",
    ),
    "no time at all": (
        edited("earlier.json", "[[10,1,null,[", "[[10,1,null,[0,0,0],[0]],[1,1,null,["),
        "earlier.json",
    ),
    "unknown unit": (
        edited("earlier.json", '[0.5,"s"]', '[0.5,"furlong"]'),
        "earlier.json: runs[0].facts.first_call",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_run_added_by_hand_is_refused_by_file_and_field(name: str, tmp_path: Path) -> None:
    change, message = BY_HAND[name]
    recordings.save(run(0), tmp_path)
    folder = folder_of(recordings.save(run(1), tmp_path))
    change(folder)
    forged_or_not = True
    try:
        forged(folder)
    except RecordingError:
        forged_or_not = False  # the manifest itself says no
    with pytest.raises(RecordingError) as caught:
        recordings.read(folder)
    assert message in str(caught.value), (forged_or_not, str(caught.value))
    assert caught.value.file.startswith(f"{MACHINE}/{PAGE}/")


def test_what_is_kept_of_former_runs_must_be_possible() -> None:
    whole = added(run(0), run(1))
    (former,) = whole.runs
    study = former.studies["sample"]
    for made, words in (
        (Summary(10, (1.0, 9.0, 10.0), (0, 1), (2.0, 3.0)), "the medians of its rounds lie from 2 to 3 ns"),
        (Summary(1, (2.0, 2.0, 2.0), (0, 1), (2.0, 2.0)), "it says 1 samples in 2 rounds"),
    ):
        cell = dataclasses.replace(study.measurements[0], summary=made)
        wrong = dataclasses.replace(study, measurements=(cell, *study.measurements[1:]))
        runs = (dataclasses.replace(former, studies={"sample": wrong}),)
        (problem,) = recompute(dataclasses.replace(whole, runs=runs))
        assert problem.startswith("runs[0].studies.sample: 'numpy' at 1024 (host): ")
        assert words in problem
    assert recompute(whole) == ()


# Two at once, and a full disk


def _save(n: int, root: Path) -> None:
    recordings.save(run(n), root)


def test_two_first_writers_at_once_both_land(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_save, args=(0, tmp_path)) for _ in range(1)]
    writers += [context.Process(target=_save_late, args=(n, tmp_path)) for n in (1, 2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join(30)
    assert [each.exitcode for each in writers] == [0] * 3
    assert len(recordings.validate(tmp_path / MACHINE / PAGE).runs) == 2


def _save_late(n: int, root: Path) -> None:
    """Runs that took all day overlap: whichever lands first, the other is no clock that goes backwards."""
    made = run(n)
    long = dataclasses.replace(made.provenance, run_time_s=1e6)
    recordings.save(dataclasses.replace(made, provenance=long), root)


def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    folder = tmp_path / MACHINE / PAGE
    writer = threading.Thread(target=_save, args=(0, tmp_path))
    with format.locked(folder):
        writer.start()
        writer.join(0.2)
        assert writer.is_alive()
        assert not (folder / "run.json").exists()
    writer.join(30)
    assert recordings.read(folder) is not None


def test_a_reader_sees_the_old_recording_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the manifest and the other files, somebody replaces all of them."""
    folder = folder_of(recordings.save(run(0), tmp_path))
    real, saved = format.read_member, []

    def overtaken(*args: Any) -> bytes:
        if not saved:
            saved.append(None)
            saved[0] = recordings.save(run(1), tmp_path)
        return real(*args)

    monkeypatch.setattr(format, "read_member", overtaken)
    assert recordings.read(folder) == saved[0]


def test_a_file_that_gets_its_plain_name_while_it_is_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(format, "_settle", lambda folder: None)
        saved = recordings.save(run(0), tmp_path)
    real = format.read_file

    def overtaken(folder: Path, name: str) -> bytes:
        if name.startswith("measurements-"):
            format._settle(folder)
        return real(folder, name)

    monkeypatch.setattr(format, "read_file", overtaken)
    assert recordings.read(folder_of(saved)) == saved


@pytest.mark.parametrize("first", [True, False])
def test_a_full_disk_is_a_named_error_that_says_what_stayed(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not first:
        saved = recordings.save(run(0), tmp_path)
    real = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "measurements" in path.name:
            return real(path, data)
        real(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        words = "there is no recording yet" if first else "the former recording stands"
        with pytest.raises(RecordingError, match=rf"run.json: the disk is full: expected room .*{words}"):
            recordings.save(run(1), tmp_path)
    if first:
        assert recordings.load_or_none(PAGE, root=tmp_path) is None
        assert not list((tmp_path / MACHINE / PAGE).glob("*.tmp"))
    else:
        assert recordings.validate(folder_of(saved)) == saved
        assert len(list(folder_of(saved).iterdir())) == 3


# Shown


def test_a_recording_is_shown_in_a_few_lines() -> None:
    whole = added(run(0), run(1, start="start 0"), run(2))
    assert repr(whole).splitlines() == [
        "<Recording of page 'sort_search' on 'nvidia-h200': x",
        " 3 runs: 2026-11-01 (start 1), 2026-11-02 (start 1), 2026-11-03 (start 2)",
        " 1 study:",
        "  'sample': 2 variants, elements 2^10 to 2^26 (float32)",
        " 1 fact: first_call>",
    ]
    study = whole.studies["sample"]
    many = {f"study {i}": study for i in range(60)}
    facts = {f"fact_{i}": Fact(f"fact_{i}", 1, "1") for i in range(138)}
    shown = repr(dataclasses.replace(whole, studies=many, facts=facts))
    assert len(shown.splitlines()) <= 15
    assert "  and 54 more" in shown
    assert "and 130 more" in shown


def test_former_runs_survive_their_file() -> None:
    whole = added(run(0), run(1), run(2))
    entries = [RunEntry(each.measuring, each.provenance) for each in whole.runs]
    assert runs_of(earlier_of(whole), entries, whole.studies, "earlier.json") == whole.runs
    assert all(isinstance(each, FormerRun) for each in whole.runs)
    assert over_starts(whole).studies["sample"].others[0].start == "start 0"
