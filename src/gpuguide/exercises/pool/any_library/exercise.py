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

# Rows, columns and dtype, the plainest first; the columns are those of `_table`. Each comes twice, with other
# numbers.
CASES = (
    *((3, 1, np.float64), (4, 3, np.float64), (2, 3, np.float32), (5, 4, np.float64), (5, 4, np.float32)),
    *((33, 6, np.float64), (100, 6, np.float32)),
)
# Single precision somewhere on the way of float64 shows.
TOLERANCES: dict[type, float] = {np.float32: 1e-5, np.float64: 1e-9}
# The smallest step that the statement allows; the largest is one divided by it. No threshold tells such a
# spread from none.
STEPS: dict[type, float] = {np.float32: 2.0**-50, np.float64: 2.0**-340}
# How far from zero, in steps. In float64 the mean of squares less the square of the mean has no digit left.
FAR: dict[type, int] = {np.float32: 90, np.float64: 2**25 - 10}


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Call it with tables of a library that refuses what the standard does not have."""
    library = OtherLibrary(source_of(function))
    for rows, columns, dtype in CASES:
        if found := _findings(function, library, rows, columns, dtype):
            yield found
            return


def _findings(
    function: Callable[..., Any], library: OtherLibrary, rows: int, columns: int, dtype: type
) -> Finding | None:
    """Pass two tables of one shape: neither may get what belongs to the other."""
    size = f"{rows} readings of {columns} sensor{'s' if columns > 1 else ''} in {np.dtype(dtype)}"
    first, second = (_table(rows, columns, dtype, seed) for seed in (0, 1))
    result, found = _called(function, library, f"For {size}", first)
    if found:
        return found
    kept, rounded = result._data.copy(), {*library.rounded}
    case = f"For a second table of {size}"
    _, found = _called(function, library, case, second, kept)
    if found:
        return found
    if result._data.tobytes() != kept.tobytes():
        return Finding(
            "wrong", f"{case} the function changed the scores of the first one: it must return a new array."
        )
    # Numbers of the code and of the shape are the same in both calls; all others come from the readings.
    lines = [line for number, line in library.rounded.items() if number not in rounded]
    return _too_precise(library, lines[0]) if lines and dtype is np.float32 else None


def _called(
    function: Callable[..., Any], library: OtherLibrary, case: str, table: Any, before: Any = None
) -> tuple[Any, Finding | None]:
    """Call it, and compare the result with the scores of a table."""
    readings, tolerance = OtherArray(library, table.copy()), TOLERANCES[table.dtype.type]
    library.rounded, library.widened_at, library.unset_read_at = {}, None, None
    result, finding = attempt(function, case, readings)
    if finding is not None:
        return None, finding
    if not isinstance(result, OtherArray):
        message = f"{case} the result must be an array of the readings' library; got {shown(result)}."
        return None, Finding("wrong", message)
    finding = compare_values(case, result._data, _scores(table), tolerance)
    if finding is None:
        return result, unchanged(case, "readings", readings._data, table)
    if before is not None and result._data.tobytes() == before.tobytes():
        message = f"{finding.message} The second table of this shape got the first one's result."
        return None, replace(finding, message=message)
    line, about = _cause(library, table.dtype)
    if finding.index:
        about = about or _about(table, finding.index[1])
    return None, replace(finding, message=f"{finding.message} {about}".strip(), line=line, lines=())


def _cause(library: OtherLibrary, dtype: Any) -> tuple[int | None, str]:
    """Return the line that explains a wrong result, and how."""
    if line := library.unset_read_at:
        return line, f"Line {line} computes with memory of xp.empty that was never set; xp.zeros sets it."
    if dtype == np.float64 and library.rounded:
        line = next(iter(library.rounded.values()))
        return line, f"Line {line} makes float32 of float64."
    if dtype == np.float32 and library.widened_at:
        return library.widened_at, f"Line {library.widened_at} makes float64 of float32."
    return None, ""


def _about(table: Any, column: int) -> str:
    """Say what is special about a column of `_table`."""
    first, largest = table[0, column], float(np.abs(table[:, column]).max())
    if column == 2:
        return f"This sensor always reads {first:g}."
    if column == 3 and largest > 1:
        return f"This sensor has readings as large as {largest:.0e}."
    if column == 3:
        return f"All readings of this sensor are smaller than {2 * largest:.0e}, and they differ."
    if column == 4 and table.dtype == np.float64:
        return f"The readings of this sensor are near {largest:.0f}, and differ by less than 100."
    if column == 5:
        return f"The first two readings of this sensor and the last are {first:g}, its mean; others differ."
    return ""


def _too_precise(library: OtherLibrary, line: int | None) -> Finding:
    came = "they come from Python's own numbers, which are float64"
    if library.widened_at:
        came = f"line {library.widened_at} works in float64"
    message = (
        f"For readings in float32, line {line} rounds numbers to float32 that have more digits: {came}. "
        "Work in the readings' own precision, with functions of xp."
    )
    return Finding("wrong", message, line=line)


def _table(rows: int, columns: int, dtype: type, seed: int) -> Any:
    """Make readings within what the statement says: whole numbers of steps, so that their sums are exact."""
    rng = np.random.default_rng((rows, seed))
    table = rng.integers(-35, 36, (rows, 6)).astype(np.float64)
    table[0], table[1] = (19, -17) if seed else (10, 30)  # no sensor but the third always reads the same
    if rows == 3:
        table[2] = -50 if seed else 20
    table[:, 1] *= 2
    table[:, 2] = 7 if seed else 12
    table[:, 3] *= 1 / STEPS[dtype] if seed else STEPS[dtype]
    # As near to each other as readings may be that differ.
    table[:, 4] = FAR[dtype] + np.where((np.arange(rows) + seed) % 2, 10, -10)
    # Whoever compares a few readings, or one with the mean, takes these for equal.
    table[:, 5] = -5 if seed else 3
    pairs = table[2 : 2 + (rows - 3) // 2 * 2, 5]
    pairs[::2] += 20
    pairs[1::2] -= 20
    return table[:, :columns].astype(dtype)


def _scores(table: Any) -> Any:
    exact = table.astype(np.float64)
    centred = exact - exact.sum(axis=0) / len(exact)
    spread = np.sqrt((centred**2).sum(axis=0) / (len(exact) - 1))
    return (centred / np.where(spread > 0, spread, 1)).astype(table.dtype)


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
