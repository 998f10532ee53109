"""Verdicts as readers see them: a page for each exercise, to be reviewed as a diff.

`python tests/exercises/test_golden_verdicts.py [NAME ...]` writes the pages anew.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from gpuguide.exercises import get, names
from gpuguide.exercises.answer import read_source
from gpuguide.exercises.checking import judge

PAGES = Path(__file__).parent / "verdicts"


def page(name: str) -> str:
    """Return the verdicts on the start, on the first two mistakes, and on the solution."""
    exercise = get(name)
    mistakes = import_module(f"gpuguide.exercises.pool.{name}.exercise").MISTAKES
    answers = {"The start": exercise.start}
    answers |= {
        f"With {mistake.new.strip() or 'nothing'!r} in the place of {mistake.old.strip()!r}": mistake.made_in(
            exercise.solution
        )
        for mistake in mistakes[:2]
    }
    answers["The solution"] = exercise.solution
    parts = [
        f"=== {what}\n\n{judge(exercise, read_source(source, exercise.function_name))}\n"
        for what, source in answers.items()
    ]
    return "\n".join(parts)


@pytest.mark.parametrize("name", names())
def test_verdicts_are_the_reviewed_ones(name: str) -> None:
    assert page(name) == (PAGES / f"{name}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or names():
        (PAGES / f"{name}.txt").write_text(page(name), encoding="utf-8")
