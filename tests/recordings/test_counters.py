"""Hardware counters beside a recording: shown for its code alone, and refused when anything is off."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from test_store import MACHINE, PAGE, provenance, recording

from gpuguide.errors import RecordingError, UnknownNameError
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
