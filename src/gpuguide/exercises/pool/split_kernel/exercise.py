"""Whether a kernel is the product of a column and a row, and of which."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.array_cases import unchanged
from gpuguide.exercises.stand_ins.judging import attempt, shown

# Of the largest weight: where vectors come as near as this there are some, and where none come as near as
# that there are none. Between the two, either answer is right.
NEAR, FAR = 1e-6, 5e-5
# How far off the vectors may be that were returned; those of the hints are off by four times NEAR at most.
MOST_OFF = 1e-5


@cache
def cases() -> tuple[tuple[str, np.ndarray[Any, Any], bool], ...]:
    """Return what a kernel is, its weights, and whether it can be split."""
    x = np.linspace(-2, 2, 15)
    gauss = np.exp(-(x**2))
    tilted = np.exp(-((x[:, None] + x) ** 2) - (x[:, None] - x) ** 2 / 4)
    edges = np.outer([1, 2, 1], [1, 0, -1])
    holes = np.zeros((4, 6))
    holes[1::2, 2::3] = [[2, -4], [-1, 2]]
    spoiled = np.outer(gauss, gauss)
    spoiled[0, 14] += 1e-4
    rounded = np.outer(gauss, gauss)
    rounded[7, 3] += 1.8 * NEAR
    box = np.ones((41, 41))
    # The best vectors share such an error among four weights.
    box_rounded, box_spoiled = box.copy(), box.copy()
    box_rounded[9, 9] += 3.6 * NEAR
    box_spoiled[9, 9] += 4.8 * FAR
    # Singular values and norms add up what no product is off by.
    spike = 0.9 * NEAR * np.where(np.indices((15, 15)).sum(axis=0) % 2, -1, 1)
    spike[7, 7] = 1
    two = np.zeros((3, 5))
    two[1, 2], two[0, 0] = 1, 1.2 * FAR
    small = np.outer(gauss, gauss[:5]) * 1e-6
    small_spoiled = small.copy()
    small_spoiled[3, 3] *= 1.01
    corner = np.outer(np.arange(3), np.arange(4))
    return (
        ("a Gaussian in double precision", np.outer(gauss, gauss), True),
        ("a Gaussian in single precision", np.outer(gauss, gauss).astype(np.float32), True),
        ("a box of 3 by 5", np.full((3, 5), 1 / 15), True),
        ("a filter for vertical edges", edges.astype(float), True),
        ("a filter for horizontal edges", edges.T.astype(np.float32), True),
        ("a kernel whose first row and column are zero", corner.astype(float), True),
        ("a kernel with rows and columns of zeros", holes, True),
        ("weights that are negative or zero", np.outer([0.0, -1, -2], [0, 1, 3]), True),
        ("a single weight", np.array([[-3.0]]), True),
        ("a single row", np.array([[0.0, 2.0, -1.0]]), True),
        ("a single column", np.array([[0.0], [2.0], [-1.0]], np.float32), True),
        ("weights of which one is off by a rounding", rounded, True),
        ("a box whose largest weight is off by a rounding", box_rounded, True),
        ("one weight among roundings", spike, True),
        ("very small weights", small, True),
        *(
            (f"weights around {scale:g} in {dtype}", (np.outer(gauss, gauss) * scale).astype(dtype), True)
            for dtype, scale in (
                ("float32", 1e-30),
                ("float32", 1e30),
                ("float64", 1e-200),
                ("float64", 1e200),
            )
        ),
        ("a filter for corners", np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], float), False),
        ("a Gaussian that lies across the axes", tilted, False),
        ("a line across", np.eye(5, dtype=np.float32), False),
        ("a difference of two Gaussians", np.outer(gauss, gauss) - np.outer(gauss**2, gauss**2), False),
        ("a Gaussian of which one weight is wrong", spoiled, False),
        ("very small weights of which one is wrong", small_spoiled, False),
        ("a box of which one weight is wrong", box_spoiled, False),
        ("two weights that share no row and no column, one of them small", two, False),
    )


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Multiply what was returned, and compare with the weights."""
    for title, weights, can_be_split in cases():
        case, given = f"For {title}, of shape {weights.shape},", weights.copy()
        result, finding = attempt(function, case, given)
        finding = (
            finding
            or _wrong(case, result, weights, can_be_split)
            or unchanged(case, "weights", given, weights)
        )
        if finding is not None:
            yield finding
            return


def _wrong(case: str, result: Any, weights: np.ndarray[Any, Any], can_be_split: bool) -> Finding | None:
    if result is None:
        return Finding("wrong", f"{case} there are two vectors; got None.") if can_be_split else None
    try:
        column, row = (np.asarray(x, np.float64) for x in result if x is not None)
    except (TypeError, ValueError):
        return Finding("wrong", f"{case} the answer must be two vectors or None; got {shown(result)}.")
    if (column.shape, row.shape) != ((weights.shape[0],), (weights.shape[1],)):
        return Finding(
            "wrong",
            f"{case} the vectors must have the shapes {weights.shape[:1]} and {weights.shape[1:]}; got "
            f"{column.shape} and {row.shape}.",
        )
    with np.errstate(all="ignore"):
        off = np.abs(np.outer(column, row) - weights).max() / np.abs(weights).max()
    unlike = next((x for x in (*column, *row) if not math.isfinite(x)), None)
    problem = ""
    if unlike is not None:
        why = "a number on the way was too large or too small" if weights.all() else "a zero was divided by"
        problem = f"the vectors contain {unlike}: {why}"
    elif not can_be_split:
        problem = f"there are no such vectors; those returned are off by {off:.2g} of the largest weight"
    elif not off <= 1.1 * MOST_OFF:  # a little more than the statement allows, for the last rounding
        problem = f"the product is off by {off:.2g} of the largest weight"
    return Finding("wrong", f"{case} {problem}.") if problem else None


EXERCISE = Exercise(
    name="split_kernel",
    title="Can it be split?",
    level="beginner",
    minutes=15,
    teaches="A kernel that is the product of two vectors is applied in two passes, and one can test for it.",
    task=FunctionTask(judge=judge, parameters=("weights",)),
    lanes=("simulator",),
    pages=("convolution",),
    tags=("convolution", "NumPy"),
)
