"""Slabs of a plate with room for rows of their neighbours: which rows go where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, count

# Own rows of each slab, and the width of the rim: one slab, slabs that are all rim, of different lengths.
CASES = (
    ((4, 4), 1),
    ((5, 3, 4, 6), 1),
    ((6, 4, 5), 2),
    ((3, 3, 3), 3),
    ((1, 1, 1, 1), 1),
    ((7, 9), 3),
    ((5,), 2),
)
COLUMNS = 4
# In the rims before the exchange; the numbers of the plate are between 0 and 1.
NOBODY = -1.0


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Look at every row of every slab afterwards."""
    for rows, width in CASES:
        slabs, expected = _slabs(rows, width)
        case = f"With {count(len(rows), 'slab')} and a rim of {count(width, 'row')}"
        case += f", of {_listed(rows)} rows of their own" if len(rows) > 1 else f", {rows[0]} rows of its own"
        before, arrays = [slab.copy() for slab in slabs], list(slabs)
        result, finding = attempt(function, f"{case},", slabs, width)
        finding = finding or _first_wrong(case, arrays, expected, width)
        if finding is not None:
            unchanged = all(map(np.array_equal, arrays, before))
            if unchanged and any(now is not then for now, then in zip(slabs, arrays, strict=False)):
                unused = "The list has new arrays now, and the slabs are as they were: write into the arrays."
                finding = replace(finding, message=f"{finding.message} {unused}")
            elif unchanged and result is not None:
                unused = "No row changed, and what was returned is not used: write into the arrays."
                finding = replace(finding, message=f"{finding.message} {unused}")
            yield finding
            return
        if len(slabs) != len(arrays) or any(now is not then for now, then in zip(slabs, arrays, strict=True)):
            message = f"{case}: the list itself was changed; it belongs to the caller."
            yield Finding("input_changed", message)
            return


def _slabs(
    rows: tuple[int, ...], width: int
) -> tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
    """Make slabs of a plate whose numbers are all different, and what they must hold in the end."""
    plate = np.random.default_rng(0).random((sum(rows), COLUMNS))  # in all digits of double precision
    around = np.full((width, COLUMNS), NOBODY)
    whole = np.concatenate([around, plate, around])
    slabs, expected, begin = [], [], 0
    for n in rows:
        right = whole[begin : begin + n + 2 * width].copy()
        slab = right.copy()
        slab[:width] = slab[len(slab) - width :] = NOBODY
        slabs.append(slab)
        expected.append(right)
        begin += n
    return slabs, expected


def _first_wrong(
    case: str, slabs: list[np.ndarray[Any, Any]], expected: list[np.ndarray[Any, Any]], width: int
) -> Finding | None:
    for k, (slab, right) in enumerate(zip(slabs, expected, strict=True)):
        wrong = slab != right
        if not wrong.any():
            continue
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        is_whole = bool(wrong[row].all())
        place = f"row {row} of slab {k}" if is_whole else f"column {column} of row {row} of slab {k}"
        if width <= row < len(right) - width:
            what = "which is its own, was changed"
        elif right[row, column] == NOBODY:
            what = "which is beyond the plate, was changed"
        elif slab[row, column] == NOBODY:
            what = "which a neighbour has, was not fetched"
        elif is_whole and (np.concatenate(expected) == slab[row]).all(axis=1).any():
            what = "which a neighbour has, is another of its rows"
        else:
            what = "which a neighbour has, does not have the neighbour's numbers"
        return Finding("wrong", f"{case}: {place}, {what}.")
    return None


def _listed(numbers: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


EXERCISE = Exercise(
    name="halo_exchange",
    title="Exchange a halo",
    level="intermediate",
    minutes=15,
    teaches="A slab borrows the outermost rows that its neighbour owns, not those that it borrowed itself.",
    task=FunctionTask(judge=judge, parameters=("slabs", "width")),
    lanes=("simulator",),
    pages=("several_gpus",),
    tags=("several GPUs", "halo", "NumPy"),
)
