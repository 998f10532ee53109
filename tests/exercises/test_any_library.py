"""The exercise `any_library`: right answers hold what the statement promises, and messages name causes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from pool_answers import RIGHT, WRONG

from gpuguide.exercises import get
from gpuguide.exercises.check import judge
from gpuguide.exercises.pool.any_library.exercise import CASES, STEPS, TOLERANCES, _table
from gpuguide.exercises.stand_ins.other_library import OtherArray, OtherLibrary

EXERCISE = get("any_library")
# The statement's, in steps.
FURTHEST = {np.float32: 100, np.float64: 2**25}
LEAST_SPREAD = 10

RIGHT_ANSWERS = {"solution": EXERCISE.solution} | {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(RIGHT.glob("any_library_*.py"))
}


def exact_scores(steps):
    """Scores of a table of whole numbers, by Python's: they have as many digits as it takes."""
    columns = []
    for column in steps.T.tolist():
        n, total = len(column), sum(column)
        spread = math.sqrt((n * sum(x * x for x in column) - total**2) / (n * (n - 1)))
        columns.append([(n * x - total) / n / (spread or 1) for x in column])
    return np.array(columns).T


def tables(rng, dtype):
    """Tables at the ends of what the statement allows."""
    furthest = FURTHEST[dtype]
    for rows in (2, 3, 7, 33, 64, 100):
        for width in (30, furthest):
            for begin in (-furthest, -width // 2, furthest - width):
                steps = begin + rng.integers(0, width + 1, (rows, 5))
                steps[0], steps[1] = begin, begin + width
                if rows > 7:  # half of them there and half of them here, or steps of a sawtooth
                    steps[:, 1] = begin + width * (np.arange(rows) % 2)
                    steps[:, 2] = begin + np.arange(rows) % 31
                steps[:, 3] = furthest
                spreads = steps.std(axis=0, ddof=1)
                yield steps[:, (spreads >= LEAST_SPREAD) | (spreads == 0)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RIGHT_ANSWERS)
def test_right_answers_hold_what_the_statement_promises(name, dtype):
    namespace: dict = {}
    exec(RIGHT_ANSWERS[name], namespace)
    for steps in tables(np.random.default_rng(0), dtype):
        for step in (1.0, STEPS[dtype], 1 / STEPS[dtype]):
            readings = OtherArray(OtherLibrary(), (steps * step).astype(dtype))
            scores = namespace["scores"](readings)._data
            assert scores.dtype == dtype
            # A third of what is allowed, so that another library's order of additions passes, too.
            np.testing.assert_allclose(scores, exact_scores(steps), rtol=0, atol=TOLERANCES[dtype] / 3)


@pytest.mark.parametrize("case", CASES)
def test_the_tables_are_those_of_the_statement(case):
    rows, columns, dtype = case
    first, second = (_table(rows, columns, dtype, seed).astype(np.float64) for seed in (0, 1))
    assert 2 <= rows <= 100
    for table, step in ((first, STEPS[dtype]), (second, 1 / STEPS[dtype])):
        steps = table.copy()
        steps[:, 3:4] /= step
        assert np.array_equal(steps, np.rint(steps))
        assert np.abs(steps).max() <= FURTHEST[dtype]
        spreads = steps.std(axis=0, ddof=1)
        assert ((spreads >= LEAST_SPREAD) | (np.arange(columns) == 2)).all()
        assert (spreads[2:3] == 0).all()
    assert not np.allclose(exact_scores(first), exact_scores(second), atol=0.1)


# Of a wrong answer: what is said, and a piece of the line that is named.
TOLD = {
    "clips_the_spread": ("All readings of this sensor are smaller than 3e-101, and they differ.", ""),
    "one_spread_for_all": ("For 4 readings of 3 sensors in float64 element (0, 1) of the result", ""),
    "compares_two_readings": ("and the last are 3, its mean; others differ.", ""),
    "remembers_results": ("The second table of this shape got the first one's result.", ""),
    "one_array_for_all": ("the function changed the scores of the first one", ""),
    "in_double_precision": ("line 9 works in float64", "xp.astype((x - m)"),
    "in_python_floats": ("they come from Python's own numbers, which are float64", "out[i, j] ="),
    "root_in_python": ("they come from Python's own numbers, which are float64", "d / s"),
    "divides_in_double_precision": ("rounds numbers to float32 that have more digits", "xp.ones(s.shape)"),
    "sums_in_empty": ("computes with memory of xp.empty that was never set; xp.zeros sets it", "total +="),
    "adds_a_mask": ("xp.add takes numbers; got bool", "s + (s == 0)"),
    "loops_over_columns": ("xp.unstack(x) takes it apart", "for col in"),
    "single_inside": ("makes float32 of float64", "xp.float32"),
}


@pytest.mark.parametrize("name", TOLD)
def test_the_message_names_the_cause(name):
    words, code = TOLD[name]
    source = Path(WRONG, f"any_library_{name}.py").read_text(encoding="utf-8")
    (finding,) = judge(EXERCISE, source, name=EXERCISE.function_name, lane="simulator").findings
    assert words in finding.message
    assert finding.line is None if not code else code in source.splitlines()[finding.line - 1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "xp.astype(readings)",
            "xp.astype() needs the argument 'dtype'. In the standard it is xp.astype(x, dtype, /",
        ),
        ("readings.astype(xp.float32)", "there is the function xp.astype(x, dtype)."),
        (
            "xp.mean(readings, 0)",
            "xp.mean() got too many positional arguments. In the standard it is xp.mean(x, /",
        ),
        ("np.from_dlpack(readings)", "cannot be read by another library; use functions of xp"),
        ("readings.to_device('cpu')", "This library has one device, x.device, which is 'other'; got 'cpu'"),
    ],
)
def test_a_mistake_is_told_in_the_reader_s_words(line, words):
    source = f"""\
import numpy as np
def scores(readings):
    xp = readings.__array_namespace__()
    return {line}
"""
    (finding,) = judge(EXERCISE, source, name="scores", lane="simulator").findings
    assert words in finding.message
    assert finding.line == 4


def test_the_line_that_widens_is_named():
    source = EXERCISE.solution.replace("xp.ones_like(spread)", "xp.ones(spread.shape)")
    (finding,) = judge(EXERCISE, source, name="scores", lane="simulator").findings
    assert finding.message.endswith("must be float32; it is float64. Line 6 makes float64 of float32.")
