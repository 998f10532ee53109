"""Hardware counters: what is asked of the profiler, and how its table becomes counters of variants."""

from __future__ import annotations

import dataclasses
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide.errors import ArgumentError
from gpuguide.recordings.keys import Key
from gpuguide_docs.commands import counting
from gpuguide_docs.commands.counting import command, counted_of, main, metrics, parse_rows

STALLS = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLUMNS = [
    "ID",
    "Kernel Name",
    "gpu__time_duration.sum",
    "launch__registers_per_thread",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    *(STALLS.format(reason) for reason in ("barrier", "long_scoreboard", "selected")),
]
NUMBA = (
    "_ZN6cudapy8gpuguide6topics6primes7kernels12sieve_sharedB2v1B96cw51cXTLSUwv1sDUaKthaalgE5ArrayIxLi1E1CE"
)


def table(*rows: tuple[str, ...]) -> str:
    lines = [COLUMNS, ["", "", "ns", "register/thread", "byte", "byte", "inst", "inst", "inst"], *rows]
    quoted = [",".join(f'"{cell}"' for cell in row) for row in lines]
    return "\n".join(["==PROF== Connected to process 12", *quoted, "==PROF== Disconnected"])


MARKER = ("0", "gpuguide_next_variant()", "1,000", "16", "0", "0", "0", "0", "1")
SIEVE = ("1", NUMBA, "2,000,000", "32", "1,500", "500", "1.5", "12.25", "99")
CLEAR = ("2", "void cub::clear<float>(float *, int)", "1,000", "16", "n/a", "7", "2", "n/a", "1")


def test_rows_are_the_kernels_alone() -> None:
    rows = parse_rows(table(MARKER, SIEVE))
    assert [row["ID"] for row in rows] == ["0", "1"]
    assert parse_rows("==ERROR== nothing\n") == []


def test_kernels_belong_to_the_variant_whose_marker_they_follow() -> None:
    rows = parse_rows(table(MARKER, SIEVE, CLEAR, MARKER, CLEAR))
    first, second = counted_of(rows, [("primes", "shared", 100), ("primes", "cleared", 10)])
    assert (first.variant, first.size, [kernel.name for kernel in first.kernels]) == (
        "shared",
        100,
        ["sieve_shared", "clear"],
    )
    assert dict(first.kernels[0].values) == {"registers": 32, "dram_bytes": 2000, "stall_cycles": 12.25}
    assert (first.kernels[0].stall, first.kernels[0].duration_s) == ("long_scoreboard", 2e-3)
    # What the profiler could not count is left out.
    assert dict(second.kernels[0].values) == {"registers": 16, "stall_cycles": 2}


@pytest.mark.parametrize(
    ("rows", "message"),
    [((MARKER, SIEVE), "expected 2 calls"), ((MARKER, SIEVE, MARKER), "launched no kernel")],
)
def test_a_table_that_does_not_fit_is_refused(rows: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        counted_of(parse_rows(table(*rows)), [("s", "a", 1), ("s", "b", 1)])


def test_only_metrics_that_the_profiler_lists_are_asked_for() -> None:
    assert "dram__bytes_read.sum" in metrics()
    assert metrics(["dram__bytes_read", "gpu__time_duration"]) == (
        "gpu__time_duration.sum",
        "launch__registers_per_thread",
        "dram__bytes_read.sum",
    )


def test_clocks_are_left_alone() -> None:
    asked = command("ncu", Path("log"), ["a.sum"], ["python", "-c", "1"])
    assert asked[asked.index("--clock-control") + 1] == "none"
    assert asked[-3:] == ["python", "-c", "1"]


@pytest.fixture
def one_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A page that wants counters, with a recording of the present code."""
    page = SimpleNamespace(name="toy", topic="toy", counters=("add[four, 2**10]",))
    saved = []
    made = SimpleNamespace(machine="here", key=Key((), (), 1))
    monkeypatch.setattr(counting, "read_pages", lambda layout: (page,))
    monkeypatch.setattr(counting, "_current", lambda layout, pages: iter([(page, made, "")]))
    monkeypatch.setattr("gpuguide.recordings.counters.save_counters", lambda made, root: saved.append(made))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return SimpleNamespace(page=page, saved=saved, folder=tmp_path)


def profiler(folder: Path, body: str) -> None:
    """Put a fake ncu on the path, which gets the command line as `asked`."""
    path = folder / "ncu"
    lines = [f"#!{sys.executable}", "import sys, json, pathlib", "asked = sys.argv[1:]"]
    listing = 'if "--query-metrics" in asked or "--version" in asked: print("Version 2025.3.1"); sys.exit()'
    path.write_text("\n".join([*lines, listing, body]), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_without_the_profiler_one_sentence_says_so(
    one_page: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(one_page.folder))
    assert main([]) == 2
    assert capsys.readouterr().err == f"{counting.NO_PROFILER}\n"


def test_without_permission_one_sentence_says_so(
    one_page: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    profiler(one_page.folder, 'print("==ERROR== ERR_NVGPUCTRPERM"); sys.exit(1)')
    assert main([]) == 1
    assert capsys.readouterr().err == f"toy: {counting.NOT_ALLOWED}\n"
    assert one_page.saved == []


def test_a_process_that_fails_is_told_with_its_last_words(
    one_page: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    profiler(one_page.folder, 'print("MismatchError: wrong", file=sys.stderr); sys.exit(9)')
    assert main([]) == 1
    assert "exit status 9): MismatchError: wrong" in capsys.readouterr().err
    assert one_page.saved == []


def test_what_was_counted_is_kept_with_the_key_of_the_recording(
    one_page: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gpuguide.recordings.plain import to_plain
    from gpuguide.results.records import Provenance

    texts = ("machine", "gpu", "driver", "cuda", "compiler", "cpu", "blas", "commit", "python", "platform")
    texts += ("start", "virtualisation", "clock_source", "cpu_signature")
    blank: dict[str, Any] = {field.name: None for field in dataclasses.fields(Provenance)}
    given = {"utc_date": "2026-11-21T10:00:00Z", "versions": (), "cpu_caches": ()}
    about = Provenance(**{**blank, **dict.fromkeys(texts, "x"), **given})
    profiler(
        one_page.folder,
        f"pathlib.Path(asked[asked.index('--log-file') + 1]).write_text({table(MARKER, SIEVE)!r})\n"
        f"pathlib.Path(asked[asked.index('--child') + 1]).write_text(json.dumps({to_plain(about)!r}))",
    )
    assert main(["toy"]) == 0
    (made,) = one_page.saved
    assert (made.machine, made.page, made.key, made.profiler) == (
        "here",
        "toy",
        Key((), (), 1),
        "Nsight Compute 2025.3.1",
    )
    assert [(each.study, each.variant, each.size) for each in made.counted] == [("add", "four", 1024)]
    assert capsys.readouterr().out == "toy: 1 counted\n"


def test_an_unknown_page_is_named(one_page: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toys"]) == 2
    assert "toy" in capsys.readouterr().err
