"""A product of matrices from tiles in shared memory."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Rows of a, columns of a, columns of b.
SHAPES = ((1, 1, 1), (8, 8, 8), (9, 17, 10), (3, 30, 9), (2, 0, 3), (0, 4, 5))
TILE = 8


def launches():
    for m, n, p in SHAPES:
        random = Random(m + n + p)
        a = array(eighths(random, -40, 40, m * n), shape=(m, n))
        # Half precision would lose the fraction of the first row.
        b = array(
            [(256 if k < p else 0) + value for k, value in enumerate(eighths(random, -4, 8, n * p))],
            shape=(n, p),
        )
        product = [sum(a[row, k] * b[k, col] for k in range(n)) for row in range(m) for col in range(p)]
        arguments = {"a": a, "b": b, "c": empty((m, p))}
        blocks = (blocks_for(p, TILE), blocks_for(m, TILE))
        yield Launch(f"m = {m}, n = {n}, p = {p}", blocks, (TILE, TILE), arguments, {"c": product})


EXERCISE = KernelExercise(
    name="tiled_matmul",
    title="A product from tiles",
    level="intermediate",
    minutes=35,
    teaches="What all threads of a block need is fetched once, tile by tile, between two barriers.",
    pages=("matmul", "kernel_families", "linear_algebra"),
    tags=("shared memory", "barrier", "matrix product"),
    launches=launches,
    limits=Limits(reads_per_block=1, bank_conflicts=2, loop_turns=40, float64=False),
)

MISTAKES = (
    Mistake("        cuda.syncthreads()  # both tiles are complete\n", "", "race"),
    Mistake("        cuda.syncthreads()  # all have read before anybody overwrites\n", "", "race"),
    Mistake(
        "        tile_a[ty, tx] = tile_b[ty, tx] = float32(0)  # what lies outside\n", "", "uninitialised"
    ),
    Mistake("row < a.shape[0] and start + tx < a.shape[1]", "row < a.shape[0]", "out_of_range"),
    Mistake("start + ty < b.shape[0] and col < b.shape[1]", "True", "out_of_range"),
    Mistake("tile_b[k, tx]", "tile_b[tx, k]", "wrong"),
    Mistake("    total = float32(0)\n", "    total = 0.0\n", "float64"),
    Mistake("a[row, start + tx]", "a[row, tx]", "wrong"),
)
