"""Heat on a plate: a tile in shared memory with a rim of neighbours on all four sides."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

TILE = 8

# Rows and columns, and how many blocks more than they need.
PLATES = ((3, 3, 0), (8, 8, 0), (9, 17, 0), (1, 20, 0), (20, 2, 1), (16, 24, 0), (23, 25, 1), (0, 5, 0))


def after_a_step(now):
    rows, cols = len(now), len(now[0]) if now else 0

    def cell(row, col):
        if row in (0, rows - 1) or col in (0, cols - 1):
            return now[row][col]
        return (now[row - 1][col] + now[row + 1][col] + now[row][col - 1] + now[row][col + 1]) / 4

    return [cell(row, col) for row in range(rows) for col in range(cols)]


def launches():
    for rows, cols, more in PLATES:
        random = Random(rows * cols)
        now = [eighths(random, -99, 99, cols) for _ in range(rows)]
        arguments = {
            "now": array([value for row in now for value in row], shape=(rows, cols)),
            "then": empty((rows, cols)),
        }
        blocks = blocks_for(cols, TILE) + more, blocks_for(rows, TILE)
        expected = {"then": after_a_step(now)}
        yield Launch(f"{rows} x {cols} cells", blocks, (TILE, TILE), arguments, expected)


EXERCISE = KernelExercise(
    name="stencil_2d",
    title="Heat from a tile",
    level="intermediate",
    minutes=30,
    teaches="A tile of a stencil has a rim: more places than threads, some of them outside the plate.",
    pages=("stencil", "convolution_ladder"),
    tags=("shared memory", "stencil", "barrier", "halo"),
    launches=launches,
    limits=Limits(reads_per_block=1, loop_turns=8, float64=False),
)

MISTAKES = (
    Mistake("    cuda.syncthreads()  # the tile is complete\n", "", "race"),
    Mistake("for i in range(ty, 10, 8):", "for i in range(ty, 8, 8):", "uninitialised"),
    Mistake("cuda.blockIdx.x * 8 - 1", "cuda.blockIdx.x * 8", "uninitialised"),
    Mistake("if 0 <= row < rows and 0 <= col < cols:", "if row < rows and col < cols:", "negative_index"),
    Mistake("if 0 <= row < rows and 0 <= col < cols:", "if 0 <= row and 0 <= col:", "out_of_range"),
    Mistake("cuda.shared.array((10, 10), float32)", "cuda.shared.array((8, 8), float32)", "out_of_range"),
    Mistake("            then[row, col] = tile[ty + 1, tx + 1]\n", "            pass\n", "wrong"),
    Mistake("float32(0.25) * (up_and_down", "0.25 * (up_and_down", "float64"),
)
