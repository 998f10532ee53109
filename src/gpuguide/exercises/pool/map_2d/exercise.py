"""The bright places of an image: a grid of two axes over a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_2d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches over images that are not square, some of them in Fortran order."""
    return launches_2d(_build, views=True)


def _build(shape: tuple[int, int], rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Few different values, so that many pixels are exactly at the level.
    image = rng.integers(0, 10, shape).astype(np.float32) / 2
    level = np.float32(2.5)
    arguments = {"image": image, "level": level, "mask": poisoned(shape, np.uint8)}
    return arguments, {"mask": (image >= level).astype(np.uint8)}


EXERCISE = Exercise(
    name="map_2d",
    title="A grid over an image",
    level="beginner",
    minutes=10,
    teaches="A grid can have two axes: x counts the columns, y the rows, and both need a guard.",
    task=KernelTask(
        calls=calls,
        limits=Limits(loop_turns=2),
        signature=("float32[:, ::1]", "float32", "uint8[:, ::1]"),
        parameters=("image", "level", "mask"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("grids_2d_3d",),
    tags=("grid", "image", "bounds"),
)
