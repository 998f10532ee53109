"""Recordings: runs as files, read together, replaced without damage, refused where something is off."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from gpuguide.errors import RecordingError, UnknownNameError
from gpuguide.measure.kept import written_down
from gpuguide.recordings import plain
from gpuguide.recordings import store as recordings
from gpuguide.recordings.keys import Key
from gpuguide.recordings.recording import Run
from gpuguide.recordings.runs import MOST_RUNS, differences
from gpuguide.results.records import Fact, Provenance
from gpuguide.results.sample import sample_results

MACHINE, PAGE = "nvidia-h200", "sort_search"
KEY = Key(("aaaa", "bbbb"), (("sort_search", "cccc"),), 1)
KERNEL = 3
"""Place of the first cell that the device clock timed, in the sample study."""
GOLDEN = Path(__file__).parents[1] / "docs" / "golden" / "src" / "gpuguide" / "recorded" / "test-cpu"


def provenance(machine: str = MACHINE, **changes: Any) -> Provenance:
    return dataclasses.replace(recordings.read(GOLDEN / "toy").provenance, machine=machine, **changes)


def run(n: int = 0, factor: float = 1, machine: str = MACHINE, key: Key = KEY, **changes: Any) -> Run:
    """A run with everything in it, a day after the one before it, on a machine start of its own."""
    study = dataclasses.replace(sample_results(), warnings=(f"run {n}",))
    cells = tuple(
        dataclasses.replace(cell, samples_ns=tuple(round(factor * ns) for ns in cell.samples_ns))
        for cell in study.measurements
    )
    about = {"utc_date": f"2026-11-{n + 1:02}T10:00:00+00:00", "start": f"{n:06x}-start", **changes}
    return Run(
        machine=machine,
        page=PAGE,
        provenance=provenance(machine, **about),
        key=key,
        studies={"sample": dataclasses.replace(study, measurements=cells)},
        facts={"first_call": Fact("first_call", 0.5 * factor, "s", (0.4 * factor, 0.6 * factor))},
        ceilings=study.ceilings,
        names={"results": "sample"},
        arrays={"image": written_down([1, 2, 3])},
        cells=recordings.read(GOLDEN / "pictures").cells,
    )


def added(root: Path, *runs: Run) -> recordings.Recording:
    for each in runs:
        saved, _ = recordings.add(each, root)
    return saved


def folder_of(root: Path) -> Path:
    return root / MACHINE / PAGE


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder_of(root).iterdir()}


# Added and read


def test_a_run_is_one_file_and_is_read_back_equal(tmp_path: Path) -> None:
    saved = added(tmp_path, run())
    assert list(files(tmp_path)) == ["2026-11-01-000000.json"]
    read = recordings.read(folder_of(tmp_path))
    assert read == saved
    for field in dataclasses.fields(Run):
        assert getattr(read, field.name) == getattr(run(), field.name), field.name
    assert read.studies["sample"].ceilings == read.ceilings, "written once, and in each study again"


def test_studies_know_all_runs_and_facts_are_taken_over_the_starts(tmp_path: Path) -> None:
    added(tmp_path, run(0, 1.0), run(1, 1.01), run(2, 1.04))
    loaded = recordings.load(PAGE, root=tmp_path)
    assert loaded == recordings.load_or_none(PAGE, root=tmp_path)
    study = loaded.studies["sample"]
    assert [each.start[:6] for each in study.runs] == ["000000", "000001", "000002"]
    assert [each.warnings for each in study.runs] == [("run 0",), ("run 1",), ("run 2",)]
    medians = [each.measurements[KERNEL].median_s for each in study.runs]
    assert medians == pytest.approx([3e-6, 3.03e-6, 3.12e-6])
    assert study.measurements[KERNEL].samples_ns
    assert study.others[0].measurements[KERNEL].samples_ns, "each run keeps its samples"
    assert loaded.facts["first_call"].value == pytest.approx(0.505)
    assert loaded.n_starts == 3


def test_runs_of_one_start_are_averaged(tmp_path: Path) -> None:
    added(tmp_path, run(0, 1.0, start="a"), run(1, 1.2, start="a"), run(2, 1.1, start="b"))
    loaded = recordings.load(PAGE, root=tmp_path)
    time = loaded.studies["sample"].time("numba", 2**10)
    assert (loaded.n_starts, time.n_starts, time.n_runs) == (2, 2, 3)
    assert time.value == pytest.approx(3e-6 * (1.2**0.5 + 1.1) / 2, rel=1e-3)


def test_two_runs_of_one_day_and_start_are_two_files(tmp_path: Path) -> None:
    later = run(0, 1.1, utc_date="2026-11-01T12:00:00+00:00")
    saved = added(tmp_path, run(0), later)
    assert saved.files == ("2026-11-01-000000.json", "2026-11-01-000000-2.json")
    assert len(saved.runs) == 1


def test_the_same_run_added_twice_is_one_run(tmp_path: Path) -> None:
    added(tmp_path, run(0), run(1))
    before = files(tmp_path)
    saved, warnings = recordings.add(run(1), tmp_path)
    assert (len(saved.runs), warnings) == (1, ())
    assert files(tmp_path) == before


def test_the_tenth_run_deletes_the_oldest(tmp_path: Path) -> None:
    saved = added(tmp_path, *(run(n) for n in range(MOST_RUNS + 1)))
    assert saved == recordings.read(folder_of(tmp_path))
    assert len(files(tmp_path)) == MOST_RUNS
    assert saved.files[0] == "2026-11-02-000001.json"


def test_former_runs_speak_of_the_newest_study_s_cells(tmp_path: Path) -> None:
    """A cell may be missing in a run, because it took too long there; labels are the newest ones."""
    old, new = run(0), run(1)
    study = old.studies["sample"]
    dropped = dataclasses.replace(study, title="Old", measurements=study.measurements[:-1])
    saved = added(tmp_path, dataclasses.replace(old, studies={"sample": dropped}), new)
    former = saved.runs[0].studies["sample"]
    assert former.title == new.studies["sample"].title
    assert former.measurements[-1].reason == "not measured in this run"
    assert len(recordings.load(PAGE, root=tmp_path).studies["sample"].runs) == 2


# Begun anew

DIFFERENT: dict[str, tuple[dict[str, Any], str]] = {
    "code": ({"key": dataclasses.replace(KEY, harness=2)}, "the measured code changed"),
    "driver": ({"driver": "581"}, "the driver was '' and is '581'"),
    "python": ({"python": "3.13.1"}, "Python was 3.12 and is 3.13"),
    "version": ({"versions": (("gpuguide", "0.4.0"), ("numpy", "2.5"))}, "numpy was 2.4.6 and is 2.5"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_other_code_versions_or_hardware_begin_the_recording_anew(what: str, tmp_path: Path) -> None:
    changes, words = DIFFERENT[what]
    added(tmp_path, run(0), run(1))
    new = run(2, **changes)
    assert differences(run(0), new) == [words]
    saved, (warning,) = recordings.add(new, tmp_path)
    assert "begins anew" in warning
    assert words in warning
    assert saved.runs == ()
    assert list(files(tmp_path)) == ["2026-11-03-000002.json"]


def test_runs_of_other_code_that_lie_beside_do_not_count(tmp_path: Path) -> None:
    """As after a merge of two branches."""
    added(tmp_path, run(1))
    old = added(tmp_path / "old", run(0, key=dataclasses.replace(KEY, harness=2)))
    shutil.copy(old.folder / old.files[0], folder_of(tmp_path))  # type: ignore[operator]
    assert recordings.read(folder_of(tmp_path)).runs == ()


def test_device_times_far_from_the_former_ones_are_told(tmp_path: Path) -> None:
    added(tmp_path, run(0), run(1), run(2))
    _, warnings = recordings.add(run(3, 1.01), tmp_path)
    assert warnings == ()
    _, (warning,) = recordings.add(run(4, 1.5), tmp_path)
    assert "device times left the range" in warning
    assert "'numba' at 2^10" in warning


# Damage

DAMAGE = {
    "cut short": (lambda text: text[: len(text) // 2], "expected JSON, perhaps the file was cut short"),
    "an unknown field": (lambda text: text.replace('"names"', '"nams"', 1), "Unknown field 'nams'"),
    "a missing field": (
        lambda text: text.replace(' "page": "sort_search",\n', ""),
        "expected the field 'page'",
    ),
    "a wrong type": (
        lambda text: text.replace('"size":1024', '"size":"1024"', 1),
        "measurements[0].size: expected an integer",
    ),
    "another page": (
        lambda text: text.replace('"sort_search",', '"primes",', 1),
        "page: expected 'sort_search'",
    ),
    "another machine": (lambda text: text.replace('"nvidia-h200"', '"mine"', 1), "machine: expected"),
    "a record that refuses": (
        lambda text: text.replace('"rounds":[0', '"rounds":[0,0', 1),
        "a round for each",
    ),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_named_with_file_and_place(what: str, tmp_path: Path) -> None:
    damaged, message = DAMAGE[what]
    saved = added(tmp_path, run(0), run(1))
    path = folder_of(tmp_path) / saved.files[0]
    text = path.read_text()
    assert damaged(text) != text
    path.write_text(damaged(text))
    for read in (recordings.load, recordings.load_or_none):
        with pytest.raises(RecordingError) as caught:
            read(PAGE, root=tmp_path)
        assert str(caught.value).startswith(f"{MACHINE}/{PAGE}/2026-11-01-000000.json: ")
        assert message in str(caught.value)


def test_a_damaged_run_does_not_cost_the_new_one(tmp_path: Path) -> None:
    saved = added(tmp_path, run(0))
    path = folder_of(tmp_path) / saved.files[0]
    path.write_text("{")
    saved, (warning,) = recordings.add(run(1), tmp_path)
    assert "restore or delete it: nvidia-h200/sort_search/2026-11-01" in warning
    assert len(files(tmp_path)) == 2
    path.unlink()
    assert recordings.read(folder_of(tmp_path)).provenance == saved.provenance


def test_a_full_disk_leaves_the_former_files_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added(tmp_path, run(0))
    before = files(tmp_path)
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        write(path, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RecordingError, match=r"2026-11-02-000001\.json: the disk is full"):
        recordings.add(run(1), tmp_path)
    assert files(tmp_path) == before


def test_an_interruption_leaves_the_former_files_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(tmp_path, run(0))
    before = files(tmp_path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recordings.add(run(1), tmp_path)
    assert files(tmp_path) == before


def test_a_reader_during_writes_sees_whole_runs(tmp_path: Path) -> None:
    """While one adds runs, the oldest leave, and at last all former ones do, for the code is another."""
    added(tmp_path, run(0))
    done, seen, failures = threading.Event(), set(), []

    def reads() -> None:
        while not done.is_set():
            try:
                seen.add(len(recordings.read(folder_of(tmp_path)).runs))
            except Exception as error:
                failures.append(error)

    reader = threading.Thread(target=reads)
    reader.start()
    added(tmp_path, *(run(n) for n in range(1, 12)), run(12, key=dataclasses.replace(KEY, harness=2)))
    done.set()
    reader.join()
    assert failures == []
    assert seen


# Names


def test_machines_and_pages_are_those_with_runs(tmp_path: Path) -> None:
    added(tmp_path, run(0), run(0, machine="mine"), run(0, machine="amd"))
    (tmp_path / "empty" / "page").mkdir(parents=True)
    assert recordings.machines(tmp_path) == (MACHINE, "amd", "mine")
    assert recordings.pages("mine", tmp_path) == (PAGE,)
    assert recordings.load(PAGE, root=tmp_path).machine == MACHINE
    assert recordings.load(PAGE, "mine", root=tmp_path).machine == "mine"


@pytest.mark.parametrize(
    ("page", "machine", "message"),
    [
        ("sort_serach", None, "Unknown page 'sort_serach'. Did you mean 'sort_search'?"),
        (PAGE, "nvidia-h20", "Unknown machine 'nvidia-h20'. Did you mean 'nvidia-h200'?"),
        ("../nvidia-h200/sort_search", None, "Unknown page"),
    ],
)
def test_unknown_names_are_errors_with_the_nearest(
    page: str, machine: str | None, message: str, tmp_path: Path
) -> None:
    added(tmp_path, run(0))
    with pytest.raises(UnknownNameError) as caught:
        recordings.load(page, machine, tmp_path)
    assert message in str(caught.value)
    assert recordings.load_or_none(page, machine, tmp_path) is None


def test_what_the_command_line_saved_is_loaded_and_anything_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(recordings.dumps_run(run(0)))
    assert recordings.load(path) == recordings.load(str(path)) == recordings._recording(run(0))
    path.write_text('{"studies": {}}')
    for file, words in ((path, "expected the field 'machine'"), (tmp_path / "none.json", "No such file")):
        with pytest.raises(RecordingError, match=f"Cannot read .*{words}"):
            recordings.load(file)


def test_the_recordings_of_the_package_are_written_as_they_are_read() -> None:
    for machine in recordings.machines():
        for page in recordings.pages(machine):
            folder = recordings.ROOT / machine / page
            recording = recordings.read(folder)
            data = (folder / recording.files[-1]).read_text()
            assert plain.dumps(recordings._File.of(recordings._alone(recording))) == data, page
