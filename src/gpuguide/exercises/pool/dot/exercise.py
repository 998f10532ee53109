"""A scalar product: added up in registers, then across a warp, then in memory, once per warp."""

from random import Random

from gpuguide.exercises.launches import ANY_GRID, array, blocks_for, eighths
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

SPARE_TURNS = 15


def launches():
    for n, blocks, threads in ANY_GRID:
        if threads % 32:
            continue
        random = Random(n)
        a, b = eighths(random, -300, 300, n), eighths(random, -1, 1, n)
        total = eighths(random, 1, 98, 1)
        expected = [total[0] + sum(x * y for x, y in zip(a, b, strict=True))]
        arguments = {"a": array(a), "b": array(b), "total": array(total)}
        turns = blocks_for(n, blocks * threads) + SPARE_TURNS
        yield Launch(f"n = {n}", blocks, threads, arguments, {"total": expected}, loop_turns=turns)


EXERCISE = KernelExercise(
    name="dot",
    title="Sums across a warp",
    level="intermediate",
    minutes=25,
    teaches="Add up in registers first, then across the warp, and go to memory once per warp.",
    pages=("kernel_families", "how_a_gpu_works"),
    tags=("warp", "reduction", "atomics", "grid"),
    launches=launches,
    limits=Limits(atomics_per_warp=1, float64=False),
)

MISTAKES = (
    Mistake("partial = float32(0)", "partial = 0.0", "float64"),
    Mistake("cuda.atomic.add(total, 0, partial)", "total[0] += partial", "race"),
    Mistake("cuda.laneid == 0", "cuda.threadIdx.x == 0", "wrong"),
    Mistake("if cuda.laneid == 0:", "if True:", "wrong"),
    Mistake("distance = 16", "distance = 8", "wrong"),
    Mistake("partial += cuda.shfl", "partial = cuda.shfl", "wrong"),
    Mistake("cuda.gridsize(1)", "cuda.blockDim.x", "wrong"),
    Mistake("a.size, cuda.gridsize(1)", "a.size", "wrong"),
)
