"""Mutants: operators make what they say, and the pool refuses each mutant that does something else."""

from __future__ import annotations

import ast
import tomllib
from functools import partial
from pathlib import Path

import pytest
from mutants import OPERATORS, mutants
from pool_answers import kinds, not_at_hand, reports

from gpuguide.exercises import get, names
from gpuguide.exercises.simulator import judge, scheduler

EQUIVALENT = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))

KERNEL = '''\
from numba import cuda, float32


@cuda.jit
def kernel(x, out):
    """Texts like i < x.size stay as they are."""
    tile = cuda.shared.array((32, 33), float32)
    i = cuda.grid(1)
    if i < x.size and i >= 0:  # guarded
        tile[0, i] = float32(2) * min(x[i], 1)
    cuda.syncthreads()
    for k in range(i, x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, k, x.shape[0])
    cuda.shfl_down_sync(0xFFFFFFFF, i, 16)
    if not i:
        i += cuda.blockDim.x
'''

MADE = {
    "drop_guard": "if True:",
    "negate_guard": "if not (i < x.size and i >= 0):",
    "drop_barrier": "pass",
    "barrier_in_branch": "if cuda.threadIdx.x > 0: cuda.syncthreads()",
    "return_before_barrier": "if cuda.grid(1) >= x.size: return",
    "plain_for_atomic": "out[k] += x.shape[0]",
    "no_write": "pass",
    "drop_statement": "pass",
    "overwrite_input": "tile[0, i] = float32(2) * min(x[i], 1); x[i] += 1",
    "comparison": "if i <= x.size and i >= 0:",
    "boolean": "if i < x.size or i >= 0:",
    "swap_axes": "tile[i, 0] = float32(2) * min(x[i], 1)",
    "constant_block": "for k in range(i, x.size, cuda.blockDim.x):",
    "constant_length": "if i < 256 and i >= 0:",
    "off_by_one": "tile[0, i] = float32(2) * min(x[i + 1], 1)",
    "literal": "tile = cuda.shared.array((32, 32), float32)",
    "arithmetic": "i = cuda.blockDim.x",
    "extremum": "tile[0, i] = float32(2) * max(x[i], 1)",
    "loop": "for k in range(i, x.size):",
    "float_literal": "tile[0, i] = float(2) * min(x[i], 1)",
    "dtype": "tile = cuda.shared.array((32, 33), 'int32')",
    "whole_warp": "cuda.shfl_up_sync(0xFFFFFFFF, i, 16)",
}


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_an_operator_makes_its_mistake(operator: str) -> None:
    assert MADE[operator] in [mutant.code for mutant in mutants(KERNEL) if mutant.operator == operator]


def test_mutants_differ_from_each_other_and_from_the_answer() -> None:
    made = mutants(KERNEL)
    assert len({mutant.source for mutant in made} | {KERNEL}) == len(made) + 1
    assert len({mutant.name for mutant in made}) == len(made)


def test_a_mutant_is_python_and_keeps_texts_and_comments() -> None:
    for mutant in mutants(KERNEL):
        ast.parse(mutant.source)
        assert '"""Texts like i < x.size stay as they are."""' in mutant.source
        assert "# guarded" in mutant.source


def test_a_mutant_s_line_is_the_reader_s() -> None:
    (dropped,) = [mutant for mutant in mutants(KERNEL) if mutant.operator == "drop_barrier"]
    assert dropped.line == 1 + KERNEL.splitlines().index("    cuda.syncthreads()")


def test_equivalent_mutants_belong_to_the_pool_and_have_a_reason() -> None:
    for entry in EQUIVALENT.get("equivalent", []):
        assert set(entry) == {"exercise", "mutant", "reason"}
        assert entry["exercise"] in names()
        assert len(entry["reason"].split()) >= 4


@pytest.fixture
def few_steps(monkeypatch):
    """Let a thread make a quarter of the turns of loops that an answer's may: many mutants never end."""
    monkeypatch.setattr(judge, "run", partial(scheduler.run, step_limit=scheduler.STEP_LIMIT // 4))


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("name", names())
def test_every_mutant_is_refused_or_equivalent(name: str, record_property) -> None:
    exercise = get(name)
    listed = {entry["mutant"] for entry in EQUIVALENT.get("equivalent", []) if entry["exercise"] == name}
    made = mutants(exercise.solution)
    assert listed <= {mutant.name for mutant in made}, "listed as equivalent, but no operator makes it"
    passed, unjudged = set(), set()
    for mutant in made:
        said = reports(exercise, mutant.source)
        if not kinds(said):
            (unjudged if not_at_hand(said) else passed).add(mutant.name)
    assert passed <= listed, f"pass and are not listed as equivalent: {sorted(passed - listed)}"
    refused = listed - passed - unjudged
    assert not refused, f"listed as equivalent, but refused: {sorted(refused)}"
    record_property("mutants", [name, len(made), len(listed), len(unjudged - listed)])
