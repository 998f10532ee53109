"""Standard scores of columns, for arrays of a library that has the standard and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import compare_values, unchanged
from gpuguide.exercises.stand_ins.judging import attempt, shown
from gpuguide.exercises.stand_ins.lines import source_of
from gpuguide.exercises.stand_ins.other_library import OtherArray, OtherLibrary

# Rows, columns, dtype.
CASES = ((4, 2, np.float64), (2, 2, np.float32), (100, 5, np.float32), (33, 3, np.float64))
# Single precision somewhere on the way of float64 shows.
TOLERANCES: dict[type, float] = {np.float32: 1e-5, np.float64: 1e-9}
ABOUT = {
    0: "All readings of this sensor are smaller than 1e-10, and they differ.",
    1: "This sensor always reads 12.",
    2: "The readings of this sensor are near 16777216, and differ by less than 100.",
}


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with tables of a library that refuses what the standard does not have."""
    for rows, columns, dtype in CASES:
        if found := _findings(function, rows, columns, dtype):
            yield found
            return


def _findings(function: Callable[..., Any], rows: int, columns: int, dtype: type) -> Finding | None:
    table, expected = _table(rows, columns, dtype)
    library = OtherLibrary(source_of(function))
    readings = OtherArray(library, table.copy())
    case = f"For {rows} readings of {columns} sensors in {np.dtype(dtype)}"
    result, finding = attempt(function, case, readings)
    if finding is not None:
        return finding
    if not isinstance(result, OtherArray):
        return Finding(
            "wrong", f"{case} the result must be an array of the readings' library; got {shown(result)}."
        )
    finding = compare_values(case, result._data, expected, TOLERANCES[dtype])
    if finding is None or not finding.index:
        return finding or unchanged(case, "readings", readings._data, table)
    about, line = ABOUT.get(finding.index[1], ""), None
    if dtype is np.float64 and library.narrowed_at:
        line = library.narrowed_at
        about = f"Line {line} makes float32 of float64."
    return replace(finding, message=f"{finding.message} {about}".strip(), line=line, lines=())


def _table(rows: int, columns: int, dtype: type) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows)
    # Whole numbers, so that the mean of equal ones is exact, as the statement promises.
    table: Any = rng.integers(-50, 50, (rows, columns)).astype(dtype)
    table[0], table[1] = -7, 9  # so that all sensors but the second differ
    table[:, 0] /= 2**40  # no threshold tells their spread from none
    table[:, 1] = 12
    if dtype is np.float64:
        table[:, 2:] += 2**24  # the mean of squares minus the square of the mean has no digit left
    exact = table.astype(np.float64)
    centred = exact - exact.sum(axis=0) / rows
    spread = np.sqrt((centred**2).sum(axis=0) / (rows - 1))
    spread[1] = 1
    return table, (centred / spread).astype(dtype)


EXERCISE = Exercise(
    name="any_library",
    title="A library you do not know",
    level="intermediate",
    minutes=15,
    teaches="The array API standard has functions, not methods, and names of its own for a few arguments.",
    task=FunctionTask(judge=judge, parameters=("readings",)),
    lanes=("simulator",),
    pages=("agnostic",),
    tags=("array API", "NumPy", "CuPy"),
)
