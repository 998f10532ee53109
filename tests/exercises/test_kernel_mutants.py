"""Mutants of kernels' solutions: each that does something else is refused, and equivalent ones pass."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from kernel_mutants import mutants

from gpuguide.exercises import get, names
from gpuguide.exercises.answer import read_source
from gpuguide.exercises.checking import judge
from gpuguide.exercises.model import KernelExercise

EQUIVALENT = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in names() if isinstance(get(name), KernelExercise)])
def test_every_mutant_is_refused_or_equivalent(name: str) -> None:
    exercise = get(name)
    listed = EQUIVALENT.get(name, {})
    passed = {
        mutant.name
        for mutant in mutants(exercise.solution)
        if judge(exercise, read_source(mutant.source, exercise.function_name)).passed
    }
    assert passed - {*listed} == set(), "pass, and are not listed as equivalent"
    assert {*listed} - passed == set(), "are listed as equivalent, and do not pass"
