"""An offset per column: which axis the threads of a warp walk along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR_2D, eighths, in_words, matrix_in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits
from gpuguide.machine.launch import blocks_1d

# Rows, columns, and threads per block along x and y. The grid covers the longer side along both axes.
LAUNCHES = (
    ((1, 1), (32, 1)),
    ((1, 33), (32, 1)),
    ((31, 1), (32, 8)),
    ((40, 7), (64, 4)),
    ((9, 30), (16, 16)),
    ((3, 70), (128, 2)),
    ((50, 33), (32, 4)),
    ((0, 5), (32, 8)),
)


def calls() -> list[Call]:
    """Make launches that can take the rows along either axis."""
    # Their indices go beyond 255 along either axis, and so many blocks would take the simulator too long.
    far = [replace(_call(shape, (32, 8)), gpu_only=True) for shape in (FAR_2D, FAR_2D[::-1])]
    return [*(_call(*launch) for launch in LAUNCHES), *far]


def _call(shape: tuple[int, int], block: tuple[int, int]) -> Call:
    rng = np.random.default_rng(shape)
    image = eighths(rng, -999, 999, shape)
    if image.size > 200:  # a zero counts as any other, and three decimals are too few
        image[1, 1:3] = 0, 2**-10
    offset = eighths(rng, 300, 499, shape[1])
    arguments = {"image": image, "offset": offset, "out": poisoned(shape)}
    grid = (blocks_1d(max(shape), block[0]), blocks_1d(max(shape), block[1]))
    label = f"{matrix_in_words(shape)}, {in_words(grid, block)}"
    return Call(label, grid, block, arguments, {"out": image - offset})


EXERCISE = Exercise(
    name="axis_order",
    title="Which axis is x?",
    level="beginner",
    minutes=10,
    teaches="Threads that differ in x share a warp, so x must count what lies side by side in memory.",
    task=KernelTask(
        calls=calls,
        limits=Limits(sectors_per_request=8, loop_turns=2),
        signature=("float32[:, ::1]", "float32[::1]", "float32[:, ::1]"),
        parameters=("image", "offset", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("grids_2d_3d",),
    tags=("grid", "coalesced access", "image"),
)
