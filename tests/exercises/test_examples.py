"""The examples in the docstrings of the exercises' modules run."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from gpuguide import exercises

PACKAGE = Path(exercises.__file__).parent
TEXTS = ("stub", "solution")
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def module_names():
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem not in TEXTS and ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            yield ".".join(("gpuguide.exercises", *(part for part in parts if part != "__init__")))


@pytest.mark.parametrize("name", list(module_names()))
def test_the_examples_give_what_they_say(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUGUIDE_PROGRESS", str(tmp_path / "progress.json"))
    ran = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert ran.attempted
    assert not ran.failed


def test_what_a_reader_calls_has_an_example() -> None:
    for name in exercises.__all__:
        assert ">>> " in getattr(exercises, name).__doc__
