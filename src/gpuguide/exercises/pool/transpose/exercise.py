"""A transposed matrix: a tile in shared memory, so that reading and writing go along rows."""

from random import Random

from gpuguide.exercises.launches import array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Rows and columns, and blocks along x and y.
LAUNCHES = (
    (1, 1, (1, 1)),
    (31, 5, (1, 1)),
    (5, 31, (2, 1)),
    (33, 40, (2, 2)),
    (2, 70, (3, 1)),
    (70, 2, (1, 3)),
    (0, 5, (1, 1)),
)


def launches():
    for rows, columns, blocks in LAUNCHES:
        x = [number / 8 for number in range(rows * columns)]  # a zero counts as any other
        Random(rows).shuffle(x)
        turned = [x[row * columns + col] for col in range(columns) for row in range(rows)]
        arguments = {"x": array(x, shape=(rows, columns)), "out": empty((columns, rows))}
        yield Launch(f"a matrix of {rows} x {columns}", blocks, (32, 32), arguments, {"out": turned})


EXERCISE = KernelExercise(
    name="transpose",
    title="Rows into columns",
    level="intermediate",
    minutes=30,
    teaches="A tile in shared memory makes scattered accesses coalesced, if it avoids bank conflicts.",
    pages=("shared_memory", "grids_2d_3d"),
    tags=("shared memory", "coalesced access", "bank conflict"),
    launches=launches,
    limits=Limits(sectors_per_request=5, bank_conflicts=1, loop_turns=2),
)

BARRIER = "    cuda.syncthreads()  # the tile is complete\n"
OUTSIDE = "row < out.shape[0] and col < out.shape[1]"
MISTAKES = (
    Mistake("(32, 33)", "(32, 32)", "bank_conflict"),
    Mistake(BARRIER, "", "race"),
    Mistake(BARRIER, f"    {BARRIER}", "divergent_barrier"),
    Mistake("out[row, col] = tile[tx, ty]", "out[row, col] = x[col, row]", "uncoalesced"),
    Mistake("tile[tx, ty]", "tile[ty, tx]", "uninitialised"),
    Mistake(OUTSIDE, "row < x.shape[0] and col < x.shape[1]", "out_of_range"),
    Mistake(OUTSIDE, "True", "out_of_range"),
    Mistake("row < x.shape[0] and col < x.shape[1]", "True", "out_of_range"),
)
