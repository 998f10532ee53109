"""Hardware counters: what is asked of the profiler, and how its table becomes counters of variants."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from mini_project import MACHINE, Project

from gpuguide.errors import ArgumentError
from gpuguide.recordings import store
from gpuguide.recordings.counters import read_counters
from gpuguide.recordings.plain import to_plain
from gpuguide_docs.commands import counting
from gpuguide_docs.commands.counting import command, counted_of, main, metrics, parse_rows

STALLS = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLUMNS = (
    *("ID", "Kernel Name", "gpu__time_duration.sum", "launch__registers_per_thread"),
    *("dram__bytes_read.sum", "dram__bytes_write.sum"),
    *(STALLS.format(reason) for reason in ("barrier", "long_scoreboard", "selected")),
)
NUMBA = (
    "_ZN6cudapy8gpuguide6topics6primes7kernels12sieve_sharedB2v1B96cw51cXTLSUwv1sDUaKthaalgE5ArrayIxLi1E1CE"
)
MARKER = ("0", "gpuguide_next_variant()", "1,000", "16", "0", "0", "0", "0", "1")
SIEVE = ("1", NUMBA, "2,000,000", "32", "1,500", "500", "1.5", "12.25", "99")
CLEAR = ("2", "void cub::clear<float>(float *, int)", "1,000", "16", "n/a", "7", "2", "n/a", "1")


def table(*rows):
    """What Nsight Compute prints."""
    units = ("", "", "ns", "register/thread", "byte", "byte", "inst", "inst", "inst")
    quoted = [",".join(f'"{cell}"' for cell in row) for row in (COLUMNS, units, *rows)]
    return "\n".join(["==PROF== Connected to process 12", *quoted, "==PROF== Disconnected"])


def test_kernels_belong_to_the_variant_whose_marker_they_follow():
    rows = parse_rows(table(MARKER, SIEVE, CLEAR, MARKER, CLEAR))
    first, second = counted_of(rows, [("primes", "shared", 100), ("primes", "cleared", 10)])
    assert (first.variant, first.size) == ("shared", 100)
    assert [kernel.name for kernel in first.kernels] == ["sieve_shared", "clear"]
    sieve = first.kernels[0]
    assert dict(sieve.values) == {"registers": 32, "dram_bytes": 2000, "stall_cycles": 12.25}
    assert (sieve.stall, sieve.duration_s) == ("long_scoreboard", 2e-3)
    # What the profiler could not count is left out.
    assert dict(second.kernels[0].values) == {"registers": 16, "stall_cycles": 2}


@pytest.mark.parametrize(
    ("rows", "message"),
    [((MARKER, SIEVE), "expected 2 calls"), ((MARKER, SIEVE, MARKER), "launched no kernel")],
)
def test_a_table_that_does_not_fit_is_refused(rows, message):
    with pytest.raises(ArgumentError, match=message):
        counted_of(parse_rows(table(*rows)), [("s", "a", 1), ("s", "b", 1)])


def test_only_metrics_that_the_profiler_lists_are_asked_for_and_clocks_are_left_alone():
    assert "dram__bytes_write.sum" in metrics()
    known = metrics(["dram__bytes_read", "gpu__time_duration"])
    assert {"gpu__time_duration.sum", "dram__bytes_read.sum"} <= {*known}
    assert "dram__bytes_write.sum" not in known
    asked = command("ncu", Path("log"), ["a.sum"], ["python", "-c", "1"])
    assert asked[asked.index("--clock-control") + 1] == "none"


@pytest.fixture
def counted(recordable: Project, tmp_path, monkeypatch) -> Project:
    """The miniature guide, entered, whose page `toy` wants counters."""
    recordable.edit(
        "examples/pages.toml", 'title = "Toy sums"', 'title = "Toy sums"\ncounters = ["sums[dot, 256]"]'
    )
    monkeypatch.chdir(recordable.root)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return recordable


def profiler(folder: Path, body: str) -> None:
    """Put a fake ncu on the path, which gets the command line as `asked`."""
    path = folder / "ncu"
    lines = [f"#!{sys.executable}", "import json, pathlib, sys", "asked = sys.argv[1:]"]
    listing = 'if "--query-metrics" in asked or "--version" in asked: print("Version 2025.3.1"); sys.exit()'
    path.write_text("\n".join([*lines, listing, body]), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_without_the_profiler_one_sentence_says_so(counted, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([]) == 2
    assert capsys.readouterr().err == f"{counting.NO_PROFILER}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('print("==ERROR== ERR_NVGPUCTRPERM"); sys.exit(1)', counting.NOT_ALLOWED),
        ('print("MismatchError: wrong", file=sys.stderr); sys.exit(9)', "MismatchError: wrong"),
    ],
    ids=["no permission", "a wrong result"],
)
def test_why_nothing_was_counted_is_told(counted, tmp_path, capsys, body, message):
    profiler(tmp_path, body)
    assert main(["toy"]) == 1
    assert message in capsys.readouterr().err
    assert read_counters(counted.layout.recorded / MACHINE / "toy") is None


def test_what_was_counted_is_kept_with_the_key_of_the_recording(counted, tmp_path):
    folder = counted.layout.recorded / MACHINE / "toy"
    recording = store.read(folder)
    about = to_plain(recording.provenance)
    profiler(
        tmp_path,
        f"pathlib.Path(asked[asked.index('--log-file') + 1]).write_text({table(MARKER, SIEVE)!r})\n"
        f"pathlib.Path(asked[asked.index('--child') + 1]).write_text(json.dumps({about!r}))",
    )
    assert main(["toy"]) == 0
    made = read_counters(folder)
    assert (made.key, made.profiler) == (recording.key, "Nsight Compute 2025.3.1")
    assert [(each.study, each.variant, each.size) for each in made.counted] == [("sums", "dot", 256)]


def test_an_unknown_page_is_named(counted, capsys):
    assert main(["tyo"]) == 2
    assert "'toy'" in capsys.readouterr().err
