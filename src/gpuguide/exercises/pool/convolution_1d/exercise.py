"""A smoothed signal: a tile in shared memory that reaches over both ends of the block."""

from random import Random

from gpuguide.exercises.launches import array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Elements, weights, blocks, and threads per block.
LAUNCHES = (
    (5, 3, 1, 64),
    (1, 17, 1, 64),
    (31, 1, 1, 96),
    (65, 5, 2, 64),
    (33, 17, 1, 256),
    (200, 17, 3, 96),
    (1031, 3, 5, 256),
    (0, 3, 1, 64),
)


def launches():
    for n, m, blocks, threads in LAUNCHES:
        random = Random(n)
        x = eighths(random, -400, 400, n)
        # No two weights are the same, so that they show which way they run.
        weights = [random.choice((-1, 1)) * k / 8 for k in random.sample(range(9, 26), m)]
        radius = m // 2
        expected = [
            sum(weights[k] * x[i + radius - k] for k in range(m) if 0 <= i + radius - k < n) for i in range(n)
        ]
        arguments = {"x": array(x), "weights": array(weights), "out": empty(n)}
        yield Launch(f"n = {n}, m = {m}", blocks, threads, arguments, {"out": expected})


EXERCISE = KernelExercise(
    name="convolution_1d",
    title="Smoothing from a tile",
    level="intermediate",
    minutes=30,
    teaches="What neighbouring threads share is fetched once into shared memory, with a margin at both ends.",
    pages=("shared_memory", "convolution_ladder", "convolution"),
    tags=("shared memory", "stencil", "convolution"),
    launches=launches,
    limits=Limits(reads_per_block=1, loop_turns=40, float64=False),
)

MISTAKES = (
    Mistake("    cuda.syncthreads()  # the tile is complete\n", "", "race"),
    Mistake("range(t, width + 2 * radius, width)", "range(t, width, width)", "uninitialised"),
    Mistake("0 <= j < x.size", "j < x.size", "negative_index"),
    Mistake("0 <= j < x.size", "0 <= j", "out_of_range"),
    Mistake("tile[t + 2 * radius - k]", "tile[t + k]", "wrong"),
    Mistake("total += taps[k]", "total += weights[k]", "limit"),
    Mistake("total = float32(0)", "total = 0.0", "float64"),
    Mistake("cuda.shared.array(256 + 16, float32)", "cuda.shared.array(256, float32)", "out_of_range"),
)
