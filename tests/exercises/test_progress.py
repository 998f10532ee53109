"""The progress is one file, replaced in one step, and nothing else is written."""

import json
from pathlib import Path

import pytest

from gpuguide.exercises import progress


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "deep" / "done.json"
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(path))
    return path


def test_nothing_is_remembered_at_first(file: Path) -> None:
    assert progress.read() == {}
    assert not file.parent.exists()


def test_the_first_date_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress.remember("guard")
    first = json.loads(file.read_text())
    assert first["passed"].keys() == {"guard"}
    first["passed"]["guard"] = "2026-01-31"
    file.write_text(json.dumps(first))
    progress.remember("guard")
    progress.remember("map")
    assert progress.read()["guard"] == "2026-01-31"
    assert list(progress.read()) == ["guard", "map"]
    assert [path.name for path in file.parent.iterdir()] == ["done.json"]


def test_forgetting_deletes_the_file(file: Path) -> None:
    progress.remember("guard")
    assert progress.forget() is True
    assert not file.exists()
    assert progress.forget() is False


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": 2, "passed": {}}', '{"schema": 1}', '{"schema": 1, "passed": 3}']
)
def test_a_broken_file_says_how_to_start_afresh(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(progress.ProgressError) as caught:
        progress.read()
    assert str(caught.value).startswith(f"{file} does not hold the progress of gpuguide (")
    assert str(caught.value).endswith("'gpuguide exercises reset' starts afresh.")
    assert progress.forget() is True


def test_a_place_that_cannot_be_used_is_named(file: Path) -> None:
    advice = "The variable GPUGUIDE_PROGRESS can name another file."
    file.parent.write_text("a file where a folder should be")
    with pytest.raises(progress.ProgressError) as caught:
        progress.read()
    assert str(caught.value) == f"The progress cannot be read from {file}: Not a directory. {advice}"
    file.parent.unlink()
    file.parent.parent.joinpath("deep").mkdir()
    file.mkdir()
    with pytest.raises(progress.ProgressError) as caught:
        progress._write({})
    assert str(caught.value) == f"The progress cannot be written to {file}: Is a directory. {advice}"
    assert [path.name for path in file.parent.iterdir()] == ["done.json"], "the draft is gone"


def test_without_the_variable_it_lies_in_the_user_s_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUGUIDE_PROGRESS", raising=False)
    assert progress.location().parts[-2:] == ("gpuguide", "progress.json")
