"""Hardware counters beside a recording: shown for its code alone, and refused where something is off."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from test_store import KEY, MACHINE, PAGE, added, folder_of, provenance, run

from gpuguide.errors import RecordingError, UnknownNameError
from gpuguide.recordings import store as recordings
from gpuguide.recordings.counters import FILE, Counters, read_counters, save_counters
from gpuguide.results.counters import Counted, KernelCounts, counted_at

LONG = KernelCounts("sieve", 2e-3, (("registers", 32.0), ("dram_bytes", 4.0e9)), "long_scoreboard")
SHORT = KernelCounts("clear", 1e-3, (("registers", 16.0), ("dram_bytes", 1.0e9)))
CELL = Counted("sample", "four", 1024, (SHORT, LONG))


def counters(**changes: Any) -> Counters:
    made = Counters(MACHINE, PAGE, KEY, "Nsight Compute 2025.3", provenance(), (CELL,))
    return dataclasses.replace(made, **changes)


def test_what_is_saved_is_read_back_with_the_recording_and_stays_with_new_runs(tmp_path: Path) -> None:
    added(tmp_path, run(0))
    save_counters(counters(), tmp_path)
    assert read_counters(folder_of(tmp_path)) == counters()
    added(tmp_path, run(1))
    read = recordings.read(folder_of(tmp_path))
    assert (read.counters, len(read.runs)) == ((CELL,), 1)
    assert "counters of sample[four, 2^10]" in repr(read)


def test_counters_of_other_code_are_not_shown(tmp_path: Path) -> None:
    added(tmp_path, run(0))
    save_counters(counters(key=dataclasses.replace(KEY, harness=2)), tmp_path)
    assert recordings.read(folder_of(tmp_path)).counters == ()


def test_counters_alone_are_no_recording(tmp_path: Path) -> None:
    save_counters(counters(), tmp_path)
    assert recordings.machines(tmp_path) == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"study"', '"studdy"', "Unknown field 'studdy'"),
        ('"page": "sort_search"', '"page": "primes"', "page: expected 'sort_search'"),
        ("]\n}", "", "cut short"),
    ],
)
def test_damage_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    added(tmp_path, run(0))
    path = save_counters(counters(), tmp_path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(RecordingError) as caught:
        recordings.read(folder_of(tmp_path))
    assert str(caught.value).startswith(f"{MACHINE}/{PAGE}/{FILE}: ")
    assert message in str(caught.value)


def test_a_cell_without_a_kernel_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"kernel of sample\[four, 1024\]"):
        save_counters(counters(counted=(dataclasses.replace(CELL, kernels=()),)), tmp_path)
    assert not (folder_of(tmp_path) / FILE).exists()


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
