"""Hardware counters beside a recording: shown for its code alone, and refused when anything is off."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from test_store import MACHINE, PAGE, provenance, recording

from gpuguide.errors import RecordingError, UnknownNameError
from gpuguide.recordings import format
from gpuguide.recordings import store as recordings
from gpuguide.recordings.counters import FILE, Counters, counters_of, read_counters, save_counters
from gpuguide.recordings.recording import Recording
from gpuguide.results.counters import Counted, KernelCounts, counted_at

LONG = KernelCounts("sieve", 2e-3, (("registers", 32.0), ("dram_bytes", 4.0e9)), "long_scoreboard")
SHORT = KernelCounts("clear", 1e-3, (("registers", 16.0), ("dram_bytes", 1.0e9)))
CELL = Counted("sample", "four", 1024, (SHORT, LONG))


@pytest.fixture
def saved(tmp_path: Path) -> Recording:
    return recordings.save(recording(), tmp_path)


def counters(saved: Recording, **changes: Any) -> Counters:
    made = Counters(MACHINE, PAGE, saved.keys.measuring, "Nsight Compute 2025.3", provenance(), (CELL,))
    return dataclasses.replace(made, **changes)


def folder(saved: Recording) -> Path:
    assert saved.folder is not None
    return saved.folder


def test_what_is_saved_is_read_back_with_the_recording(saved: Recording, tmp_path: Path) -> None:
    made = counters(saved)
    save_counters(made, tmp_path)
    assert read_counters(folder(saved)) == made
    assert recordings.read(folder(saved)).counters == (CELL,)
    assert "counters of sample[four, 2^10]" in repr(recordings.read(folder(saved)))


def test_a_new_run_of_the_same_code_keeps_them(saved: Recording, tmp_path: Path) -> None:
    save_counters(counters(saved), tmp_path)
    recordings.save(recording(n=1), tmp_path)
    assert recordings.read(folder(saved)).counters == (CELL,)


def test_the_same_run_saved_twice_stays_one_run_beside_counters(saved: Recording, tmp_path: Path) -> None:
    save_counters(counters(saved), tmp_path)
    for again in (recording(), recordings.load(PAGE, root=tmp_path)):
        recordings.save(again, tmp_path)
        assert recordings.read(folder(saved)).runs == ()


def test_a_damaged_file_costs_no_former_run(saved: Recording, tmp_path: Path) -> None:
    """It lies beside the runs: the next run joins them, and only reading still names the file."""
    save_counters(counters(saved), tmp_path).write_text("{")
    later = recording(n=1)
    about = dataclasses.replace(later.provenance, utc_date="2026-11-22T10:00:00+00:00", start="y")
    whole, warnings = recordings.add(dataclasses.replace(later, provenance=about), tmp_path)
    assert (len(whole.runs), warnings) == (1, ())
    with pytest.raises(RecordingError, match=r"counters\.json: expected JSON"):
        recordings.read(folder(saved))
    save_counters(counters(saved), tmp_path)
    assert len(recordings.read(folder(saved)).runs) == 1


def test_writers_wait_for_one_another(saved: Recording, tmp_path: Path) -> None:
    """Also for a recording that is saved, which removes what is half written."""
    made = counters(saved)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(20):
                save_counters(made, tmp_path)
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=write) for _ in range(3)]
    with format.locked(folder(saved)):
        for each in writers:
            each.start()
        writers[0].join(0.2)
        assert all(each.is_alive() for each in writers)
    for n in range(1, 4):
        recordings.save(recording(n=n), tmp_path)
    for each in writers:
        each.join(30)
    assert errors == []
    assert recordings.read(folder(saved)).counters == (CELL,)


def test_a_full_disk_is_a_named_error_and_the_former_ones_stand(
    saved: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_counters(counters(saved), tmp_path)

    def full(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(RecordingError, match=r"counters\.json: the disk is full.*former counters stand"):
            save_counters(counters(saved, profiler="Nsight Compute 2026.1"), tmp_path)
    assert read_counters(folder(saved)) == counters(saved)
    assert not list(folder(saved).glob(".*"))


def test_counters_of_other_code_are_not_shown(saved: Recording, tmp_path: Path) -> None:
    save_counters(counters(saved, measuring="0" * 64), tmp_path)
    assert counters_of(folder(saved), saved.keys.measuring) == ()
    assert recordings.read(folder(saved)).counters == ()


def test_kernels_are_added_up_or_the_longest_one_counts() -> None:
    assert CELL.longest is LONG
    assert CELL.value("dram_bytes") == 5.0e9
    assert CELL.value("registers") == 32
    assert [CELL.shown(name) for name in ("registers", "dram_bytes")] == ["32", "5.0 GB"]
    with pytest.raises(UnknownNameError, match="occupancy"):
        CELL.value("occupancy")
    assert counted_at([CELL], "sample", "four", 1024) is CELL
    with pytest.raises(UnknownNameError, match="five"):
        counted_at([CELL], "sample", "five", 1024)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (("occupancy", 57.61), "58 %"),
        (("occupancy", 3.14), "3.1 %"),
        (("bank_conflicts", 12_345_678.0), "12.3 million"),
        (("bank_conflicts", 0.0), "0"),
        (("l2_write_sectors", 54_321.0), "54\N{NO-BREAK SPACE}300"),
        (("load_sectors_per_request", 15.97), "16"),
        (("dram_throughput", 3.5e12), "3.5 TB/s"),
    ],
)
def test_a_counter_is_shown_with_its_unit(values: tuple[str, float], shown: str) -> None:
    assert Counted("s", "v", 1, (KernelCounts("k", 1.0, (values,)),)).shown(values[0]) == shown


def test_they_show_themselves_in_a_few_words() -> None:
    assert repr(CELL) == (
        "<Counted sample[four, 2^10] of 2 kernels, the longest of them: registers 32, dram_bytes 5.0 GB>"
    )
    assert repr(Counted("s", "v", 7, (SHORT,))).startswith("<Counted s[v, 7] of 1 kernel: registers 16, ")
    assert repr(Counted("s", "v", 7, ())) == "<Counted s[v, 7] of 0 kernels, the longest of them: nothing>"


def test_they_are_refused_when_they_are_of_another_folder(saved: Recording, tmp_path: Path) -> None:
    path = save_counters(counters(saved), tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"page": "{PAGE}"', '"page": "other"'), encoding="utf-8")
    with pytest.raises(RecordingError, match="expected 'sort_search'"):
        recordings.read(folder(saved))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["counted"].append(d["counted"][0]), "once, got it twice"),
        (lambda d: d["counted"][0].update(kernels=[]), "expected a kernel"),
        (lambda d: d["counted"][0]["kernels"][0].update(values=[["speed", 1.0]]), "speed"),
        (lambda d: d["counted"][0]["kernels"][0].update(values=[["registers", -1.0]]), "from 0 to"),
        (lambda d: d["counted"][0]["kernels"][0].update(duration_s=-1.0), "duration_s"),
        (lambda d: d["counted"][0].update(size="large"), "size"),
        (lambda d: d.update(counted=[d["counted"][0]] * 65), "at most 64"),
        (lambda d: d["counted"][0].update(kernels=d["counted"][0]["kernels"] * 129), "at most 256"),
        (lambda d: d.update(extra=1), "extra"),
    ],
)
def test_a_damaged_file_is_refused(saved: Recording, tmp_path: Path, change: Any, message: str) -> None:
    path = save_counters(counters(saved), tmp_path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(RecordingError, match=message):
        recordings.read(folder(saved))


def test_a_link_is_refused(saved: Recording, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    save_counters(counters(saved), tmp_path).rename(elsewhere)
    (folder(saved) / FILE).symlink_to(elsewhere)
    with pytest.raises(RecordingError, match="symbolic link"):
        recordings.read(folder(saved))


def test_what_is_too_large_is_not_written(saved: Recording, tmp_path: Path) -> None:
    save_counters(counters(saved), tmp_path)
    large = (dataclasses.replace(CELL, kernels=(LONG,) * 257),)
    with pytest.raises(RecordingError, match="at most 256"):
        save_counters(counters(saved, counted=large), tmp_path)
    assert recordings.read(folder(saved)).counters == (CELL,)
