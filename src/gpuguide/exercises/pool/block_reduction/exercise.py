"""A sum per block: a tree in shared memory, with a barrier in each round."""

from random import Random

from gpuguide.exercises.launches import array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Elements, blocks, and threads per block, whose number is a power of two.
LAUNCHES = (
    (1, 1, 32),
    (5, 6, 1),
    (9, 5, 2),
    (33, 2, 32),
    (64, 1, 64),
    (257, 2, 256),
    (1031, 17, 64),
    (0, 1, 32),
)


def launches():
    for n, blocks, threads in LAUNCHES:
        x = eighths(Random(n), -99, 998, n)
        sums = [sum(x[b * threads : (b + 1) * threads]) for b in range(blocks)]
        arguments = {"x": array(x), "sums": empty(blocks)}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"sums": sums})


EXERCISE = KernelExercise(
    name="block_reduction",
    title="A sum in a tree",
    level="intermediate",
    minutes=25,
    teaches="A tree in shared memory adds up a block in a few rounds, with a barrier in each.",
    pages=("reductions", "kernel_families", "how_a_gpu_works"),
    tags=("shared memory", "barrier", "reduction"),
    launches=launches,
    limits=Limits(bank_conflicts=1, atomics=0, loop_turns=16),
)

BARRIER = "        cuda.syncthreads()  # what the last round stored is there for all\n"
ADD = "        if t < half:\n"
MISTAKES = (
    Mistake(BARRIER, "", "race"),
    Mistake(BARRIER + ADD, f"{ADD}            cuda.syncthreads()\n", "divergent_barrier"),
    Mistake("x[i] if i < x.size else float32(0)", "x[i]", "out_of_range"),
    Mistake("half = cuda.blockDim.x // 2", "half = 128", "uninitialised"),
    Mistake("i = cuda.grid(1)", "i = t", "wrong"),
    Mistake("half > 0", "half > 1", "wrong"),
    Mistake("    if t == 0:", "    if True:", "race"),
    Mistake("sums[cuda.blockIdx.x]", "sums[i]", "out_of_range"),
)
