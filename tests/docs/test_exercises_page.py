"""The page of exercises: the verdict that it shows is the one that the check prints."""

import re
from pathlib import Path

import pytest

from gpuguide.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "practice" / "puzzles.md"


def test_the_verdict_on_the_page_begins_as_the_check_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "done.json"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    main(["exercises", "start", "guard"])
    capfd.readouterr()
    assert main(["exercises", "check", "guard", "guard.py"]) == 1
    (shown,) = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert capfd.readouterr().out.startswith(shown)
