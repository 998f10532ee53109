"""The sum of an array in two launches of one kernel: many blocks, then one block on their sums."""

from random import Random

from gpuguide.exercises.launches import array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Elements, blocks, and threads per block, whose number is a power of two; one block is the second launch.
LAUNCHES = (
    (1, 1, 32),
    (5, 2, 1),
    (33, 1, 32),
    (64, 3, 32),
    (100, 1, 64),
    (257, 2, 32),
    (300, 1, 256),
    (1031, 4, 64),
    (0, 2, 32),
)


def launches():
    for n, blocks, threads in LAUNCHES:
        x = eighths(Random(n), -99, 998, n)
        sums = [sum(x[i] for i in range(n) if i // threads % blocks == block) for block in range(blocks)]
        yield Launch(f"n = {n}", blocks, threads, {"x": array(x), "sums": empty(blocks)}, {"sums": sums})


EXERCISE = KernelExercise(
    name="sum_in_two_launches",
    title="A sum in two launches",
    level="intermediate",
    minutes=25,
    teaches="If each block stores its sum, a second launch can add these up, without atomic operations.",
    pages=("reductions",),
    tags=("shared memory", "barrier", "reduction", "grid-stride loop"),
    launches=launches,
    limits=Limits(reads_per_element=1, atomics=0, loop_turns=20),
)

BARRIER = "        cuda.syncthreads()  # what the last round stored is there for all\n"
MISTAKES = (
    Mistake(BARRIER, "", "race"),
    Mistake("x.size, cuda.gridsize(1))", "x.size, cuda.blockDim.x)", "wrong"),
    Mistake("cuda.gridsize(1)):\n        total +=", "cuda.gridsize(1)):\n        total =", "wrong"),
    Mistake("half > 0", "half > 1", "wrong"),
    Mistake("half = cuda.blockDim.x // 2", "half = 128", "uninitialised"),
    Mistake("    if t == 0:", "    if True:", "race"),
    Mistake("sums[cuda.blockIdx.x] = part[0]", "cuda.atomic.add(sums, 0, part[0])", "uninitialised"),
)
