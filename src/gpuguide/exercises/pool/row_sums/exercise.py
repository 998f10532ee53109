"""The sum of each row of a matrix, by a warp a row."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Rows, columns, threads along y, and blocks more than are needed.
LAUNCHES = (
    (1, 1, 1, 0),
    (1, 33, 1, 0),
    (3, 31, 2, 0),
    (5, 200, 4, 0),
    (35, 64, 1, 1),
    (17, 100, 8, 0),
    (2, 0, 2, 0),
    (0, 7, 4, 0),
)


def launches():
    for rows, columns, threads, more in LAUNCHES:
        x = eighths(Random(rows + columns), -999, 999, rows * columns)
        sums = [sum(x[row * columns : (row + 1) * columns]) for row in range(rows)]
        arguments = {"x": array(x, shape=(rows, columns)), "sums": empty(rows)}
        blocks = (1, blocks_for(rows, threads) + more)
        yield Launch(f"a matrix of {rows} x {columns}", blocks, (32, threads), arguments, {"sums": sums})


EXERCISE = KernelExercise(
    name="row_sums",
    title="A sum along an axis",
    level="intermediate",
    minutes=20,
    teaches="A warp adds up a row together: neighbours read neighbours, and shuffles join what they found.",
    pages=("reductions", "kernel_families", "how_a_gpu_works"),
    tags=("warp", "reduction", "coalesced access"),
    launches=launches,
    limits=Limits(sectors_per_request=5, reads_per_element=1, atomics=0, loop_turns=12, float64=False),
)

LOOP = "range(cuda.threadIdx.x, x.shape[1], 32)"
PIECE = "range(7 * cuda.threadIdx.x, min(7 * cuda.threadIdx.x + 7, x.shape[1]))"
MISTAKES = (
    Mistake(LOOP, PIECE, "uncoalesced"),
    Mistake(LOOP, "range(cuda.threadIdx.x, x.shape[1])", "wrong"),
    Mistake("total = float32(0)", "total = 0.0", "float64"),
    Mistake("distance = 16", "distance = 8", "wrong"),
    Mistake("if cuda.threadIdx.x == 0 and row", "if row", "race"),
    Mistake("cuda.threadIdx.x == 0 and row < x.shape[0]", "cuda.threadIdx.x == 0", "out_of_range"),
    Mistake("    if row < x.shape[0]:\n", "    if True:\n", "out_of_range"),
    Mistake("cuda.blockIdx.y * cuda.blockDim.y", "cuda.blockIdx.y * cuda.blockDim.x", "wrong"),
)
