"""The pages of exercises: the verdict shown is the one that the check prints; solutions can be left out."""

import re
from pathlib import Path

import pytest

from gpuguide.cli import main
from gpuguide_docs.pages.layout import Layout
from gpuguide_docs.show.exercises import exercise_files
from gpuguide_docs.show.site import Site

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "practice" / "puzzles.md"


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


def test_without_solutions_there_is_no_page_of_them_and_no_link_to_it() -> None:
    whole, without = (exercise_files(Site(Layout(ROOT)), solutions=shown) for shown in (True, False))
    assert {path.name for path in whole.keys() - without.keys()} == {"solutions.md"}
    assert [path.name for path, text in without.items() if "solution" in text] == []
