"""The command: start, check, watch, hint, reset and next, with the exercise in hand where none is named."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from threading import Timer

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.exercises import get, progress, shell
from gpuguide.exercises.actions import add_actions


@pytest.fixture
def exercises(tmp_path, monkeypatch, capfd):
    """Run the command in a folder of its own; return its exit status and what it prints."""
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser("gpuguide exercises")
    add_actions(parser)

    def run(words: str = "") -> tuple[int, str]:
        status = shell.perform(parser.parse_args(words.split()))
        return status, capfd.readouterr().out

    return run


def test_a_first_exercise_from_start_to_pass(exercises) -> None:
    assert "0 of" in exercises()[1]
    assert "Wrote guard.py, with the task" in exercises("start guard")[1]
    assert Path("guard.py").read_text().startswith("# Threads without an element\n")
    status, text = exercises("check")
    assert (status, text.splitlines()[0]) == (1, "guard: not yet")
    Path("guard.py").write_text(get("guard").solution)
    status, text = exercises("check guard.py")
    assert status == 0
    assert "guard: passed" in text
    assert "Next: " in text
    assert [*progress.read()] == ["guard"]
    assert "1 of" in exercises("list")[1]


def test_a_name_a_file_and_nothing_name_the_exercise(exercises) -> None:
    exercises("start guard")
    exercises("start halo_exchange")
    os.utime("guard.py", (1, 1))
    assert exercises("check")[1].startswith("halo_exchange: not yet")
    for words in ("check guard", "check guard.py"):
        assert exercises(words)[1].startswith("guard: not yet")
    Path("mine.py").write_text(get("guard").solution)
    assert exercises("check guard mine.py")[1].startswith("guard: passed")


def test_what_is_not_there_says_what_to_do(exercises) -> None:
    for words, message in (("check", "next"), ("check guard", "start guard"), ("hint guard 0", "hints 1 to")):
        with pytest.raises(ArgumentError, match=message):
            exercises(words)
    with pytest.raises(UnknownNameError, match="guard"):
        exercises("check gard")
    exercises("start guard")
    with pytest.raises(ArgumentError, match="reset guard"):
        exercises("start guard")


def test_next_starts_the_first_that_is_not_done(exercises) -> None:
    first = exercises("next")[1].split()[1].removesuffix(".py,")
    assert Path(f"{first}.py").exists()
    assert "is here already" in exercises("next")[1]
    progress.remember(first)
    assert f"Wrote {first}.py" not in exercises("next")[1]


def test_hints_come_one_by_one(exercises) -> None:
    exercises("start guard")
    first, second, third = get("guard").hints
    assert exercises("hint")[1].startswith(first)
    assert exercises("hint 2")[1].startswith(second)
    assert exercises("show guard --hint 3")[1] == third + "\n"
    assert exercises("show --solution")[1] == get("guard").solution


def test_a_file_may_launch_its_own_kernel_and_print(exercises) -> None:
    own = "\nx, out = [1, 5], [0, 0]\nmaximum_kernel[1, 2](x, [4, 2], out)\nprint(out)\n"
    Path("guard.py").write_text(get("guard").solution + own)
    assert exercises("check")[1].startswith("[4, 5]\nguard: passed")


def test_what_a_kernel_prints_is_cut_once(exercises) -> None:
    Path("guard.py").write_text(get("guard").solution.replace("    if i", "    print(i)\n    if i"))
    printed = exercises("check")[1].split("Your code printed:")[1].split("Next:")[0].split("\n")
    assert [line.strip() for line in printed if line] == [*map(str, range(20)), "... and 1,036 more lines"]


def test_reset_keeps_what_was_written(exercises) -> None:
    exercises("start guard")
    text = Path("guard.py").read_text()
    Path("guard.py").write_text("mine")
    exercises("reset guard")
    assert (Path("guard.py").read_text(), Path("guard.py.bak").read_text()) == (text, "mine")
    exercises("reset guard")
    assert Path("guard.py.bak").read_text() == "mine"


def test_watch_checks_at_each_save_until_it_passes(exercises) -> None:
    exercises("start guard")
    save = Timer(2, lambda: Path("guard.py").write_text(get("guard").solution))
    save.start()
    status, text = exercises("watch")
    assert status == 0
    assert text.index("guard: not yet") < text.index("Watching guard.py") < text.index("guard: passed")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    import time\n    time.sleep(60)\n", "was stopped"),
        ("    while True:\n        pass\n", "had not ended"),
        ("    import os\n    os._exit(7)\n", "with the code 7"),
        ("    import os\n    os._exit(0)\n", "with the code 0"),
        ("    raise SystemExit(0)\n", "raised SystemExit"),
    ],
)
def test_an_answer_that_never_ends_or_crashes_gets_a_verdict(exercises, monkeypatch, body, said) -> None:
    monkeypatch.setattr(shell, "LIMIT_S", 3.0 if "sleep" in body else 30.0)
    Path("halo_exchange.py").write_text(f"def halo_exchange(slabs, width):\n{body}")
    status, text = exercises("check")
    assert status == 1
    assert said in text
