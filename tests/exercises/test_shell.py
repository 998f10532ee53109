"""``gpuguide exercises``: what it prints, writes and returns."""

import json
from pathlib import Path

import pytest

from gpuguide.cli import main
from gpuguide.exercises import get, lanes, names
from gpuguide.exercises.model import KernelTask


@pytest.fixture(autouse=True)
def progress_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress" / "done.json"))
    monkeypatch.setenv("COLUMNS", "100")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return tmp_path / "progress" / "done.json"


def exercises(*arguments: str) -> int:
    return main(["exercises", *arguments])


def test_the_list_begins_with_kernels_and_names_the_next(capsys) -> None:
    assert exercises() == 0
    out = capsys.readouterr().out
    assert exercises("list") == 0
    assert capsys.readouterr().out == out
    rows = [line.split()[0] for line in out.splitlines()[1:-2]]
    kernels = [name for name in names() if isinstance(get(name).task, KernelTask)]
    assert rows == [*kernels, *(name for name in names() if name not in kernels)]
    assert out.splitlines()[0].split() == ["exercise", "about", "level", "minutes", "done"]
    assert out.splitlines()[-1] == (
        f"0 of {len(names())} done. Next: {get(rows[0]).title}. "
        f"Begin with: gpuguide exercises start {rows[0]}"
    )


def test_the_task_is_shown_with_what_to_do_next(capsys) -> None:
    assert exercises("show", "guard") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# {get('guard').title}\n\n{get('guard').statement}\n\n")
    assert out.endswith(
        "\nBeginner, about 5 minutes, 3 hints (--hint 1).\nBegin: gpuguide exercises start guard\n"
    )


def test_a_terminal_gets_it_laid_out(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert exercises("show", "guard") == 0
    out = capsys.readouterr().out
    assert get("guard").title in out
    assert f"# {get('guard').title}" not in out


def test_hints_come_one_at_a_time(capsys) -> None:
    hints = get("guard").hints
    assert exercises("show", "guard", "--hint", "1") == 0
    assert capsys.readouterr().out == f"{hints[0]}\n\nAnother one: `--hint 2`.\n"
    assert exercises("show", "guard", "--hint", str(len(hints))) == 0
    assert capsys.readouterr().out == f"{hints[-1]}\n"


@pytest.mark.parametrize("number", ["0", "-1", "4"])
def test_a_hint_that_does_not_exist_says_how_many_there_are(capsys, number: str) -> None:
    assert exercises("show", "guard", f"--hint={number}") == 2
    assert capsys.readouterr().err == (
        f"gpuguide: 'guard' has 3 hints, --hint 1 to --hint 3; got --hint {number}.\n"
    )


def test_the_solution_is_shown_as_source(capsys) -> None:
    assert exercises("show", "guard", "--solution") == 0
    assert capsys.readouterr().out == get("guard").solution


def test_starting_writes_the_stub_and_never_overwrites(capsys) -> None:
    assert exercises("start", "guard") == 0
    written = Path("guard.py").read_text()
    assert written.endswith(f"\n\n{get('guard').stub}")
    assert written.startswith(f"# {get('guard').title}\n#\n# {get('guard').statement.splitlines()[0]}\n")
    assert capsys.readouterr().out == (
        "Wrote guard.py, with the task. Edit it, then: gpuguide exercises check guard\n"
    )
    Path("guard.py").write_text("what I wrote")
    assert exercises("start", "guard") == 2
    assert capsys.readouterr().err == "gpuguide: guard.py exists already. Choose another file with --to.\n"
    assert Path("guard.py").read_text() == "what I wrote"
    assert exercises("start", "guard", "--to", "other.py") == 0
    assert exercises("start", "guard", "--to", "absent/other.py") == 2
    assert "Cannot write absent/other.py: No such file or directory." in capsys.readouterr().err


def test_a_right_answer_is_remembered(capsys, progress_file: Path, monkeypatch) -> None:
    monkeypatch.setattr(lanes, "_why_not", lambda lane: "Not today." if lane != "simulator" else "")
    Path("guard.py").write_text(get("guard").solution)
    assert exercises("check", "guard") == 0
    out = capsys.readouterr().out
    assert out.startswith("guard: passed\n\nSimulator  passed: ")
    assert "\nWhich threads write out\n" in out
    assert f"What it shows: {get('guard').teaches}" in " ".join(out.split())
    assert out.endswith("\n\nNext: One thread, one pixel. Begin with: gpuguide exercises start map\n")
    assert json.loads(progress_file.read_text())["passed"].keys() == {"guard"}
    assert exercises() == 0
    out = capsys.readouterr().out
    (row,) = (line for line in out.splitlines() if line.startswith("guard "))
    assert row.rstrip().endswith(json.loads(progress_file.read_text())["passed"]["guard"])
    assert out.splitlines()[-1].startswith(f"1 of {len(names())} done.")
    assert exercises("reset") == 0
    assert exercises("reset") == 0
    assert capsys.readouterr().out == "Forgotten.\nThere was no progress to forget.\n"
    assert not progress_file.exists()


def test_a_pass_in_some_lanes_is_not_remembered(capsys, progress_file: Path) -> None:
    Path("mine.py").write_text(get("guard").solution)
    assert exercises("check", "guard", "mine.py", "--lanes", "simulator") == 0
    assert capsys.readouterr().out.endswith("it is not noted as done: leave out --lanes for that.\n")
    assert not progress_file.exists()


def test_broken_progress_does_not_hide_a_verdict(capsys, progress_file: Path, monkeypatch) -> None:
    monkeypatch.setattr(lanes, "_why_not", lambda lane: "Not today." if lane != "simulator" else "")
    progress_file.parent.mkdir()
    progress_file.write_text("{")
    Path("guard.py").write_text(get("guard").solution)
    assert exercises("check", "guard") == 0
    out = capsys.readouterr().out
    assert out.startswith("guard: passed")
    assert out.endswith("'gpuguide exercises reset' starts afresh.\n")


def test_without_a_file_the_one_of_start_is_taken(capsys) -> None:
    assert exercises("check", "guard") == 2
    assert capsys.readouterr().err == (
        "gpuguide: There is no file guard.py here. Begin with: gpuguide exercises start guard; or name your "
        "file.\n"
    )
    assert exercises("check", "gaurd") == 2
    assert "Did you mean 'guard'?" in capsys.readouterr().err


def test_starting_says_which_lane_is_missing(capsys, monkeypatch) -> None:
    monkeypatch.setattr(lanes, "_why_not", lambda lane: "Not today.")
    assert exercises("start", "float64_by_accident") == 0
    assert "Only the compiler can decide this one here: Not today.\n" in capsys.readouterr().out


def test_what_start_writes_is_judged_like_the_stub(capsys) -> None:
    """With comments at its top, and lines numbered as in the file."""
    assert exercises("start", "guard") == 0
    assert exercises("check", "guard", "--lanes", "simulator") == 1
    line = 1 + Path("guard.py").read_text().splitlines().index(get("guard").stub.splitlines()[7])
    assert f"\n    {line} |     out[i] = max(a[i], b[i])" in capsys.readouterr().out


def test_a_wrong_answer_is_not_remembered_and_nothing_is_written(capsys, progress_file: Path) -> None:
    Path("mine.py").write_text(get("guard").stub)
    assert exercises("check", "guard", "mine.py", "--lanes", "simulator") == 1
    out = capsys.readouterr().out
    assert out.startswith("guard: not yet\n\nIn the simulator, with n = 1, 1 block of 32 threads:\n")
    assert "\n    8 |     out[i] = max(a[i], b[i])" in out
    assert "\nA hint: gpuguide exercises show guard --hint 1\n" in out
    assert not progress_file.parent.exists()
    assert [path.name for path in Path().iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "gaurd"), "Unknown exercise 'gaurd'. Did you mean 'guard'?"),
        (("check", "guard", "absent.py"), "The file absent.py does not exist."),
        (("check", "guard", "broken.py"), "broken.py is not Python: line 1, expected ':': if x"),
        (("check", "guard", "empty.py"), "empty.py has no function at its top level. Define one with def."),
        (
            ("check", "guard", "mine.py", "--function", "max_kernel"),
            "Unknown function of mine.py: 'max_kernel'. Did you mean 'maximum_kernel'?",
        ),
        (
            ("check", "guard", "mine.py", "--lanes", "simulater"),
            "Unknown lane 'simulater'. Did you mean 'simulator'?",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_two(capsys, arguments: tuple[str, ...], message: str) -> None:
    Path("broken.py").write_text("if x\n")
    Path("empty.py").write_text("x = 1\n")
    Path("mine.py").write_text(get("guard").stub)
    assert exercises(*arguments) == 2
    assert capsys.readouterr().err == f"gpuguide: {message}\n"


def test_the_file_may_stand_behind_the_lanes(capsys) -> None:
    Path("mine.py").write_text(get("guard").solution)
    assert exercises("check", "guard", "--lanes", "simulator", "mine.py") == 0
    assert capsys.readouterr().out.startswith("guard: passed\n")


def test_the_help_says_what_is_executed(capsys) -> None:
    with pytest.raises(SystemExit):
        exercises("check", "--help")
    out = capsys.readouterr().out
    assert "A kernel is judged without executing the file" in out
    assert "An exercise that asks for a host function executes\nthe file, with your rights." in out


def test_broken_progress_is_one_line(capsys, progress_file: Path) -> None:
    progress_file.parent.mkdir()
    progress_file.write_text("{")
    assert exercises() == 1
    assert "'gpuguide exercises reset' starts afresh." in capsys.readouterr().err
