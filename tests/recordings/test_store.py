"""Recordings: saved and read back, replaced without a moment of damage, and refused when anything is off."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuguide.errors import RecordingError, UnknownNameError
from gpuguide.recordings import store as recordings
from gpuguide.recordings.canonical import digest
from gpuguide.recordings.keys import Keys, measuring_key, recorded_cells
from gpuguide.recordings.recompute import recompute
from gpuguide.recordings.recording import CellOutput, Recording
from gpuguide.recordings.runs import without_history
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.description import StudyDescription
from gpuguide.results.records import Fact, Measurement, Provenance, Work
from gpuguide.results.sample import sample_results

MACHINE, PAGE = "nvidia-h200", "sort_search"
DESCRIPTION = StudyDescription(
    "Add <b>", (("NumPy", "CPU", "host", "8", "a + 1"),), (1024,), "elements", "float32", (("Cache", "warm"),)
)


def provenance(machine: str = MACHINE) -> Provenance:
    blank: dict[str, Any] = {field.name: None for field in dataclasses.fields(Provenance)}
    texts = ("gpu", "driver", "cuda", "compiler", "cpu", "blas", "commit", "python", "platform")
    texts += ("start", "virtualisation", "clock_source", "cpu_signature")
    blank |= dict.fromkeys(texts, "x")
    given = {"machine": machine, "utc_date": "2026-11-21T10:00:00+00:00", "versions": (), "cpu_caches": ()}
    return Provenance(**{**blank, **given})


def recording(machine: str = MACHINE, page: str = PAGE, n: int = 0) -> Recording:
    """A small recording with everything in it; another `n` is another run."""
    results = dataclasses.replace(sample_results(), warnings=(f"run {n}",))
    cells = ("import gpuguide as gg", "results = study().run()")
    return Recording(
        machine=machine,
        page=page,
        provenance=provenance(machine),
        keys=measuring_key(cells, ["gpuguide.machine.launch"]),
        studies={"sample": results},
        facts={"first_call": Fact("first_call", 0.5, "s", (0.4, 0.6))},
        ceilings=results.ceilings,
        names={"results": "sample"},
        cells=(
            CellOutput(
                1,
                digest(cells[1]),
                stdout=".. include:: /etc/passwd\n\n>>> 1 / 0\n",
                shows="sample",
                study=DESCRIPTION,
                names=(("gg.load", "gpuguide.recordings.store", "find", "gpuguide", False),),
            ),
        ),
    )


@pytest.fixture
def saved(tmp_path: Path) -> Recording:
    return recordings.save(recording(), tmp_path)


def folder_of(saved: Recording) -> Path:
    assert saved.folder is not None
    return saved.folder


# Saved and read back


def test_what_is_saved_is_read_back_equal(saved: Recording) -> None:
    assert recordings.read(folder_of(saved)) == saved
    assert recordings.validate(folder_of(saved)) == saved
    assert len(saved.run_id) == 16


def test_files_are_those_of_the_design(saved: Recording) -> None:
    names = sorted(path.name for path in folder_of(saved).iterdir())
    assert names == ["measurements.json", "run.json", "transcript.json"]


def test_a_measurement_stands_on_one_line(saved: Recording) -> None:
    lines = (folder_of(saved) / "measurements.json").read_text().splitlines()
    assert sum('"samples_ns"' in line and '"variant"' in line for line in lines) == 6


def test_same_contents_have_the_same_run_id_and_others_another(tmp_path: Path) -> None:
    ids = [recordings.save(recording(n=n), tmp_path / str(i)).run_id for i, n in enumerate((0, 0, 1))]
    assert ids[0] == ids[1] != ids[2]


def test_ceilings_of_the_run_are_stored_once(saved: Recording) -> None:
    text = (folder_of(saved) / "measurements.json").read_text()
    assert text.count('"two_to_one"') == 1
    assert recordings.read(folder_of(saved)).studies["sample"].ceilings == saved.ceilings


@pytest.mark.parametrize("given", [None, Ceilings((Ceiling("copy", 1e12, "B/s"),))])
def test_other_ceilings_stay_a_studys_own(given: Ceilings | None, tmp_path: Path) -> None:
    made = recording()
    study = dataclasses.replace(made.studies["sample"], ceilings=given)
    saved = recordings.save(dataclasses.replace(made, studies={"sample": study}), tmp_path)
    assert recordings.read(folder_of(saved)).studies["sample"].ceilings == given


def test_text_is_stored_as_text(saved: Recording) -> None:
    """Recorded reST, directives and prompts are data: they come back as they were."""
    assert recordings.read(folder_of(saved)).cells[0].stdout == ".. include:: /etc/passwd\n\n>>> 1 / 0\n"


def test_without_transcript_the_measurements_are_read(saved: Recording) -> None:
    """The wheel has no transcripts; a build must not take that for a page without outputs."""
    for path in folder_of(saved).iterdir():
        if path.name not in ("run.json", "measurements.json"):
            path.unlink()
    assert recordings.read(folder_of(saved)) == dataclasses.replace(saved, cells=())
    for read in (
        lambda: recordings.validate(folder_of(saved)),
        lambda: recordings.load_or_none(PAGE, root=root_of(saved)),
    ):
        with pytest.raises(RecordingError, match=r"transcript\.json: the file is missing"):
            read()


def root_of(saved: Recording) -> Path:
    return folder_of(saved).parents[1]


# Found


def test_the_primary_machine_comes_first(saved: Recording) -> None:
    root = root_of(saved)
    for machine in ("aaa", "zzz"):
        recordings.save(recording(machine), root)
    recordings.save(recording("zzz", "other"), root)
    assert recordings.machines(root) == (MACHINE, "aaa", "zzz")
    assert recordings.pages("zzz", root) == ("other", PAGE)
    assert recordings.load(PAGE, root=root).machine == MACHINE
    assert recordings.load(PAGE, "zzz", root).machine == "zzz"
    assert recordings.load("other", root=root).machine == "zzz"
    shutil.rmtree(root / MACHINE)
    assert recordings.load(PAGE, root=root).machine == "aaa"


def test_unknown_names_are_answered_with_the_nearest(saved: Recording) -> None:
    root = root_of(saved)
    with pytest.raises(UnknownNameError, match=r"'sort_serch'.*'sort_search'"):
        recordings.load("sort_serch", root=root)
    with pytest.raises(UnknownNameError, match=r"machine 'nvidia-h20'.*'nvidia-h200'"):
        recordings.load(PAGE, "nvidia-h20", root)
    assert recordings.load_or_none("other", root=root) is None
    assert recordings.load_or_none(PAGE, "other", root) is None
    found = recordings.load_or_none(PAGE, None, root)
    assert found is not None
    assert without_history(found) == saved
    assert recordings.machines(root / "nowhere") == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"\xff", "no text"),
        (b"a table", "expected JSON"),
        (b'{"name": "another"}', "schema_version"),
        (b'{"schema_version": 1, "run_id": "x"}', "'run_id'"),
    ],
)
def test_a_file_that_no_run_wrote_is_refused_with_the_reason(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    if content is not None:
        path.write_bytes(content)
    for name in (path, str(path)):
        with pytest.raises(RecordingError, match=f"mine.json as what 'gpuguide run .*{reason}"):
            recordings.load(name)


def test_an_empty_folder_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / MACHINE / PAGE).mkdir(parents=True)
    assert recordings.load_or_none(PAGE, root=tmp_path) is None


def test_recordings_of_the_package_are_sound() -> None:
    for machine in recordings.machines():
        for page in recordings.pages(machine):
            recordings.validate(recordings.ROOT / machine / page)


# Replaced


def fail_at(monkeypatch: pytest.MonkeyPatch, k: int, kind: type[BaseException]) -> Callable[[], int]:
    """Let the k-th change of the disk (write, replace, unlink) fail; answer how many there were."""
    count = 0

    def counted(change: Callable[..., Any], partial: bool) -> Callable[..., Any]:
        def changed(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == k:
                if partial:
                    change(args[0], args[1][: len(args[1]) // 2])  # the disk is full half-way
                raise kind("injected")
            return change(*args, **kwargs)

        return changed

    monkeypatch.setattr(Path, "write_bytes", counted(Path.write_bytes, partial=True))
    monkeypatch.setattr(os, "replace", counted(os.replace, partial=False))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink, partial=False))
    return lambda: count


N_CHANGES = 11


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("k", range(1, N_CHANGES + 1))
def test_a_failure_at_any_write_leaves_a_whole_recording(
    k: int, kind: type[BaseException], saved: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = root_of(saved)
    made = recording(n=1)
    with monkeypatch.context() as patch:
        changes = fail_at(patch, k, kind)
        try:
            recordings.save(made, root)
            failed = False
        except kind:
            failed = True
        assert changes() >= k, "more points of failure are tried than there are"
    found = recordings.validate(folder_of(saved))
    new = found.run_id != saved.run_id
    assert found == saved or new
    assert failed or new, "a save that reports success must have replaced the recording"
    if k <= 8:  # three files written and named, then the manifest
        assert found == saved
    again = recordings.save(made, root)
    assert recordings.validate(folder_of(saved)) == again
    assert [run.studies["sample"].warnings for run in again.runs] == [("run 0",)]
    assert len(list(folder_of(saved).iterdir())) == 4, "the next save leaves no orphan"


def test_all_changes_of_the_disk_were_tried(saved: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        changes = fail_at(patch, 0, OSError)
        recordings.save(recording(n=1), root_of(saved))
        assert changes() == N_CHANGES


def test_a_killed_save_is_read_and_tidied(saved: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the new manifest and the last renaming no code of ours may run any more."""
    with monkeypatch.context() as patch:
        patch.setattr("gpuguide.recordings.format._settle", lambda folder: None)
        new = recordings.save(recording(n=1), root_of(saved))
    assert len(list(folder_of(saved).iterdir())) > 4
    assert recordings.validate(folder_of(saved)) == new
    newest = recordings.save(recording(n=2), root_of(saved))
    assert recordings.validate(folder_of(saved)) == newest
    assert len(list(folder_of(saved).iterdir())) == 4


def test_first_save_that_fails_leaves_no_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, 5, OSError)
        with pytest.raises(OSError, match="injected"):
            recordings.save(recording(), tmp_path)
    assert recordings.load_or_none(PAGE, root=tmp_path) is None


def test_files_of_others_are_left_alone(saved: Recording) -> None:
    (folder_of(saved) / "NOTES.txt").write_text("mine")
    recordings.save(recording(n=1), root_of(saved))
    assert (folder_of(saved) / "NOTES.txt").read_text() == "mine"


def test_another_machine_is_never_touched(saved: Recording) -> None:
    before = {path: path.read_bytes() for path in folder_of(saved).iterdir()}
    recordings.save(recording("mine", n=1), root_of(saved))
    assert {path: path.read_bytes() for path in folder_of(saved).iterdir()} == before


def test_a_folder_copied_from_another_machine_is_not_overwritten(saved: Recording) -> None:
    copied = root_of(saved) / "mine" / PAGE
    shutil.copytree(folder_of(saved), copied)
    with pytest.raises(RecordingError, match=r"mine/sort_search/run\.json: machine: expected 'mine'"):
        recordings.save(recording("mine"), root_of(saved))
    assert (copied / "run.json").read_bytes() == (folder_of(saved) / "run.json").read_bytes()


@pytest.mark.parametrize("linked", ["machine", "page", "manifest"])
def test_nothing_is_written_through_a_link(linked: str, tmp_path: Path) -> None:
    target, folder = tmp_path / "elsewhere", tmp_path / "root" / MACHINE / PAGE
    target.mkdir()
    path = {"machine": folder.parent, "page": folder, "manifest": folder / "run.json"}[linked]
    path.parent.mkdir(parents=True)
    path.symlink_to(target / "x" if linked == "manifest" else target)
    with pytest.raises(RecordingError, match="symbolic link"):
        recordings.save(recording(), tmp_path / "root")
    assert list(target.iterdir()) == []


# Refused when saved


def variation(**changes: Any) -> Recording:
    return dataclasses.replace(recording(), **changes)


def with_cell(**changes: Any) -> Recording:
    return variation(cells=(dataclasses.replace(recording().cells[0], **changes),))


def with_study(**changes: Any) -> Recording:
    return variation(studies={"sample": dataclasses.replace(recording().studies["sample"], **changes)})


def many_samples(n: int) -> tuple[Measurement, ...]:
    return (Measurement("numba", 1024, samples_ns=tuple(range(n)), rounds=(0,) * n),)


REFUSED: dict[str, tuple[Callable[[], Recording], str]] = {
    "machine with a path": (lambda: variation(machine="../other"), "machine: expected lower-case letters"),
    "page with a path": (lambda: variation(page="a/b"), "page: expected lower-case letters"),
    "machine of somebody else": (lambda: variation(machine="mine"), "provenance.machine: expected 'mine'"),
    "quick run": (lambda: with_study(quick=True), "studies.sample.quick"),
    "too many samples": (
        lambda: with_study(measurements=many_samples(101)),
        "samples_ns: expected at most 100",
    ),
    "study of another name": (lambda: with_study(name="x"), "studies.sample.name: expected 'sample'"),
    "fact of another name": (lambda: variation(facts={"x": Fact("y", 1, "1")}), "facts.x.name"),
    "name without study": (lambda: variation(names={"r": "x"}), "names.r: expected a recorded study"),
    "name that is none": (lambda: variation(names={"a b": "sample"}), "names: expected a variable's name"),
    "cell of other code": (lambda: with_cell(digest="0" * 64), "cells[0].digest"),
    "cell that the keys lack": (
        lambda: with_cell(cell=7),
        "cells[0].cell: expected a cell that the keys have",
    ),
    "cell twice": (
        lambda: variation(cells=recording().cells * 2),
        "cells[1].cell: expected a number above 1",
    ),
    "table of no study": (lambda: with_cell(shows="x"), "cells[0].shows: expected a recorded study"),
    "control character in a study": (
        lambda: with_cell(study=dataclasses.replace(DESCRIPTION, title="a\x0cb")),
        "cells[0].study.title: expected printable text",
    ),
    "control character": (lambda: with_cell(stdout="a\x0cb"), "cells[0].stdout: expected printable text"),
    "line separator": (lambda: with_cell(stdout="a\u2028b"), "cells[0].stdout: expected printable text"),
    "keys that do not add up": (
        lambda: variation(keys=Keys("0" * 64, recording().keys.parts)),
        "keys.measuring: expected",
    ),
    "part outside the package": (
        lambda: variation(keys=Keys.of([*recording().keys.parts, ("gpuguide/../../x", "0" * 64)])),
        "keys.parts[3][0]: expected",
    ),
    "date that is none": (
        lambda: variation(provenance=dataclasses.replace(provenance(), utc_date="yesterday")),
        "provenance.utc_date: expected a date",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsound_recordings_are_not_saved(name: str, tmp_path: Path) -> None:
    make, message = REFUSED[name]
    with pytest.raises(RecordingError) as caught:
        recordings.save(make(), tmp_path)
    assert message in str(caught.value)
    assert caught.value.file
    assert list(tmp_path.iterdir()) == []


def test_a_large_page_is_refused_with_its_largest_parts(tmp_path: Path) -> None:
    with pytest.raises(
        RecordingError, match=r"at most 150000 bytes.*largest: transcript\.json \(\d{6} bytes\)"
    ):
        recordings.save(with_cell(stdout="a line\n" * 20_000), tmp_path)


# Refused when read


def hash_again(folder: Path) -> None:
    """What a careful forger does: make the hashes of the manifest fit the files."""
    manifest = json.loads((folder / "run.json").read_text())
    for entry in manifest["files"]:
        path = folder / entry["name"]
        if path.is_file():
            entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "run.json").write_text(json.dumps(manifest))


def edit(name: str, old: str, new: str, forged: bool = True) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, (old, text[:500])
        (folder / name).write_text(text.replace(old, new, 1))
        if forged and name != "run.json":
            hash_again(folder)

    return apply


def write(name: str, data: bytes, forged: bool = True) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).write_bytes(data)
        if forged and name != "run.json":
            hash_again(folder)

    return apply


def rename_last(to: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        manifest = json.loads((folder / "run.json").read_text())
        manifest["files"][1]["name"] = to
        (folder / "run.json").write_text(json.dumps(manifest))

    return apply


def link(name: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).rename(folder.parent / "target")
        (folder / name).symlink_to(folder.parent / "target")

    return apply


SAMPLE = '"samples_ns":[980'
DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "truncated manifest": (
        write("run.json", b'{"schema_version": 1, "run_id": "a'),
        "run.json: expected JSON",
    ),
    "truncated measurements": (
        write("measurements.json", b'{"schema_version": 1'),
        "measurements.json: expected JSON",
    ),
    "empty file": (write("transcript.json", b""), "transcript.json: expected JSON"),
    "edited sample": (
        edit("measurements.json", SAMPLE, '"samples_ns":[981', False),
        "measurements.json: the file was changed",
    ),
    "edited sample, forged": (
        edit("measurements.json", SAMPLE, '"samples_ns":[981'),
        "measurements.json: run_id: does not say",
    ),
    "edited date": (edit("run.json", "2026-11-21", "2026-11-22"), "run.json: run_id: does not belong"),
    "other run id": (edit("run.json", '"run_id": "', '"run_id": "0'), "run.json: run_id: does not belong"),
    "run id of one file": (
        edit("transcript.json", '"run_id": "', '"run_id": "0'),
        "transcript.json: run_id: expected",
    ),
    "missing measurements": (
        lambda f: (f / "measurements.json").unlink(),
        "measurements.json: the file is missing",
    ),
    "missing transcript": (
        lambda f: (f / "transcript.json").unlink(),
        "transcript.json: the file is missing",
    ),
    "other schema": (
        edit("run.json", '"schema_version": 1', '"schema_version": 2'),
        "run.json: schema_version: expected 1, got 2",
    ),
    "other schema of a part": (
        edit("measurements.json", '"schema_version": 1', '"schema_version": 2'),
        "schema_version",
    ),
    "unknown field": (edit("run.json", '"page":', '"extra": 1, "page":'), "run.json: Unknown field 'extra'"),
    "missing field": (edit("run.json", '"gpu": "x",', ""), "run.json: provenance: expected the field 'gpu'"),
    "wrong type": (
        edit("measurements.json", SAMPLE, '"samples_ns":["many"'),
        "samples_ns[0]: expected an integer",
    ),
    "NaN": (
        edit("measurements.json", '"value": 0.5', '"value": NaN'),
        "measurements.json: facts.first_call.value",
    ),
    "infinity": (
        edit("measurements.json", '"value": 0.5', '"value": 1e999'),
        "measurements.json: facts.first_call.value",
    ),
    "huge integer": (edit("measurements.json", SAMPLE, '"samples_ns":[' + "9" * 30), "samples_ns[0]"),
    "endless integer": (
        edit("measurements.json", SAMPLE, '"samples_ns":[' + "9" * 5000),
        "measurements.json: ",
    ),
    "negative sample": (edit("measurements.json", SAMPLE, '"samples_ns":[-1'), "samples_ns[0]"),
    "repeated key": (
        edit("run.json", '"page":', '"page": "x", "page":'),
        "run.json: expected JSON: the key 'page' stands twice",
    ),
    "deep nesting": (
        write("transcript.json", b"[" * 100_000),
        "transcript.json: expected JSON nested at most",
    ),
    "giant file": (
        write("measurements.json", b" " * (4 * 2**20 + 1)),
        "measurements.json: expected at most 4194304 bytes",
    ),
    "not UTF-8": (
        write("measurements.json", b'{"schema_version": 1, "x": "\xff"}'),
        "expected UTF-8, got the byte 0xff",
    ),
    "no object": (write("run.json", b"[]"), "run.json: expected an object"),
    "path outside": (
        rename_last("../../../etc/passwd"),
        "run.json: files[1].name: expected measurements.json and transcript.json",
    ),
    "absolute path": (rename_last("/etc/passwd"), "run.json: files[1].name"),
    "path of Windows": (rename_last("..\\x.svg"), "run.json: files[1].name"),
    "file twice": (rename_last("measurements.json"), "run.json: files[1].name"),
    "part of another kind": (rename_last("measurements.json\n"), "run.json: files[1].name"),
    "manifest is a link": (link("run.json"), "run.json: expected a plain file"),
    "measurements are a link": (link("measurements.json"), "measurements.json: expected a plain file"),
    "folder is a link": (
        lambda f: (f.rename(f.parent / "x"), f.symlink_to(f.parent / "x"))[0],
        "expected a plain file in a plain folder",
    ),
    "other page": (edit("run.json", f'"{PAGE}"', '"other"'), "run.json: page: expected 'sort_search'"),
    "other machine": (
        edit("run.json", f'"machine": "{MACHINE}"', '"machine": "x"'),
        "run.json: machine: expected",
    ),
    "string of surrogates": (edit("run.json", '"gpu": "x"', '"gpu": "\\ud800"'), "run.json: provenance.gpu"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_by_file_and_field(name: str, saved: Recording) -> None:
    damage, message = DAMAGE[name]
    damage(folder_of(saved))
    with pytest.raises(RecordingError) as caught:
        recordings.read(folder_of(saved), complete=True)
    assert message in str(caught.value)
    assert caught.value.file.startswith(f"{MACHINE}/{PAGE}/")


def forge(saved: Recording, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Path:
    """Save what `save` refuses, with all hashes right."""
    made = with_cell(**changes)
    shutil.rmtree(folder_of(saved))
    with monkeypatch.context() as patch:
        patch.setattr("gpuguide.recordings.format.check_contents", lambda *args: None)
        recordings.save(made, root_of(saved))
    return folder_of(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shows": "<img src=x onerror=alert(1)>"}, "transcript.json: cells[0].shows: expected a recorded"),
        ({"cell": 5}, "transcript.json: cells[0].cell"),
        ({"digest": "0" * 64}, "transcript.json: cells[0].digest"),
        ({"stdout": "a\u2028b"}, "transcript.json: cells[0].stdout"),
    ],
)
def test_a_consistent_forgery_is_refused_for_what_it_holds(
    changes: dict[str, Any], message: str, saved: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = forge(saved, monkeypatch, **changes)
    with pytest.raises(RecordingError) as caught:
        recordings.read(folder)
    assert message in str(caught.value)


def test_a_renamed_folder_is_refused(saved: Recording) -> None:
    renamed = folder_of(saved).rename(folder_of(saved).with_name("renamed"))
    with pytest.raises(
        RecordingError, match="page: expected 'renamed', as the folder is called, got 'sort_search'"
    ):
        recordings.read(renamed)


# Worked out again


def test_a_sound_recording_follows_from_its_samples(saved: Recording) -> None:
    assert recompute(saved) == ()


def test_more_work_than_its_ceiling_allows_is_named(saved: Recording) -> None:
    study = saved.studies["sample"]
    seconds = study.measurements[0].median_s

    def with_ceiling(ceiling: float) -> Recording:
        done = dataclasses.replace(study.measurements[0], work=(Work("marks", 1000, ceiling),))
        cells = (done, *study.measurements[1:])
        return dataclasses.replace(saved, studies={"sample": dataclasses.replace(study, measurements=cells)})

    assert recompute(with_ceiling(1000 / seconds)) == ()
    (problem,) = recompute(with_ceiling(900 / seconds))
    assert problem.startswith("studies.sample: 'numpy' at 1024: ")
    assert "marks per second, with a ceiling of" in problem


def test_facts_and_ceilings_that_do_not_follow_are_named(saved: Recording) -> None:
    fact = Fact("first_call", 0.7, "s", (0.4, 0.6))
    assert saved.ceilings is not None
    item = dataclasses.replace(saved.ceilings.items[0], value=saved.ceilings.items[0].value * 1.1)
    wrong = dataclasses.replace(saved, facts={"first_call": fact}, ceilings=Ceilings((item,)))
    fields = [problem.partition(":")[0] for problem in recompute(wrong)]
    assert fields == [f"ceilings.{item.mix}.value", "facts.first_call.value"]


def test_a_recording_holds_no_code_and_no_markup(saved: Recording) -> None:
    """What is shown as a table is data; a forged file that brings HTML or a claim has an unknown field."""
    for name in ("measurements.json", "transcript.json"):
        text = (folder_of(saved) / name).read_text()
        assert "html" not in text
        assert "claims" not in text
    assert "Add &lt;b&gt;" in DESCRIPTION.html()


# Stale


def test_staleness_names_what_changed(tmp_path: Path) -> None:
    src, script = tmp_path / "src", tmp_path / "examples" / "cupy" / "sort_search.py"
    launch = src / "gpuguide" / "machine" / "launch.py"
    launch.parent.mkdir(parents=True)
    script.parent.mkdir(parents=True)
    launch.write_text("x = 1\n")
    script.write_text('"Title"\nimport gpuguide as gg\n# %%\n# Text.\nresults = study().run()\n')
    keys = measuring_key(recorded_cells(script.read_text()), ["gpuguide.machine.launch"], src)
    saved = recordings.save(variation(keys=keys), tmp_path / "recorded")
    assert recordings.staleness(saved, script, src) == ()
    script.write_text(script.read_text().replace("run()", "run(seed=1)"))
    launch.write_text("x = 2\n")
    assert recordings.staleness(saved, script, src) == (
        "cell 2 of examples/cupy/sort_search.py",
        "src/gpuguide/machine/launch.py",
    )
