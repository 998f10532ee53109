"""How many blocks cover an array of any shape, and which launches CUDA refuses."""

from numbers import Integral

from gpuguide.exercises.judging import require, shown
from gpuguide.exercises.model import Case, HostExercise, Mistake

# Shape, threads of a block, and the grid.
LAUNCHES = (
    ((1024,), (256,), (4,)),
    ((1000,), (256,), (4,)),
    ((1025,), (256,), (5,)),
    ((255,), (256,), (1,)),
    ((0,), (128,), (1,)),
    ((100, 1000), (32, 8), (32, 13)),
    ((1000, 100), (32, 8), (4, 125)),
    ((7, 1), (1, 1024), (1, 1)),
    ((0, 100), (32, 8), (4, 1)),
    ((100, 0), (32, 8), (1, 13)),
    ((16, 100, 1000), (32, 4, 2), (32, 25, 8)),
    ((65, 1, 130), (4, 2, 64), (33, 1, 2)),
    ((1, 0, 1), (8, 4, 2), (1, 1, 1)),
)
AT_A_LIMIT = (
    ((2**31 - 1,), (1,), (2**31 - 1,)),
    ((65_535, 1), (1, 1), (1, 65_535)),
    ((65_535, 1, 1), (1, 1, 1), (1, 1, 65_535)),
    ((65_535, 65_535), (1, 1), (65_535, 65_535)),  # there is none on all blocks together
)
BEYOND = (
    ((2**31,), (1,)),
    ((65_536, 1), (1, 1)),
    ((65_536, 1, 1), (1, 1, 1)),
    ((1, 65_536, 1), (1, 1, 1)),
    ((1,), (1025,)),
    ((1, 1), (32, 33)),
    ((1, 1, 1), (16, 16, 5)),
    ((1, 1, 1), (1, 1, 65)),
    ((70_000, 0), (1, 1)),
    ((0,), (2048,)),
)


def cases():
    about = "With shape = {} and threads_per_block = {}"
    for shape, threads, grid in LAUNCHES:
        yield Case(about.format(shape, threads), (shape, threads), grid)
    for shape, threads, grid in AT_A_LIMIT:
        yield Case(about.format(shape, threads) + ", which CUDA allows", (shape, threads), grid)
    for shape, threads in BEYOND:
        refused = about.format(shape, threads) + ", which CUDA refuses"
        yield Case(refused, (shape, threads), raises=ValueError)


def judge(case, blocks):
    whole = all(isinstance(n, Integral) for n in blocks)
    require(whole, f"The blocks must be integers; got {shown(blocks)}.")


EXERCISE = HostExercise(
    name="grid_arithmetic",
    title="Blocks for any shape",
    level="beginner",
    minutes=15,
    teaches="The grid is the shape over the block, rounded up, with the axes in reverse and limits on each.",
    pages=("know_your_gpu", "launch_sizes", "grids_2d_3d"),
    tags=("grid", "block", "launch"),
    cases=cases,
    judge=judge,
    in_page=True,
)

MISTAKES = (
    Mistake("n = shape[-1 - axis]", "n = shape[axis]", "wrong"),
    Mistake("-(-n // threads)", "n // threads", "wrong"),
    Mistake("-(-n // threads)", "n // threads + 1", "wrong"),
    Mistake("-(-n // threads)", "-(-n / threads)", "wrong"),
    Mistake("max(1, -(-n // threads))", "-(-n // threads)", "wrong"),
    Mistake(" or threads_per_block[2:] > (64,)", "", "wrong"),
    Mistake("blocks[axis] > MOST_BLOCKS[axis]", "blocks[axis] >= MOST_BLOCKS[axis]", "exception"),
    Mistake("(2**31 - 1, 65_535, 65_535)", "(2**31 - 1,) * 3", "wrong"),
)
