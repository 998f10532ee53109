"""The largest number of each block and its first place: a tree of pairs."""

from random import Random

from gpuguide.exercises.launches import array, blocks_for, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Elements, threads per block, and how many different numbers there are: of few, the largest comes often.
LAUNCHES = (
    (1, 32, 9),
    (5, 1, 9),
    (33, 32, 99),
    (64, 64, 3),
    (40, 64, 1),
    (257, 256, 5),
    (1031, 64, 30),
)


def launches():
    for n, threads, kinds in LAUNCHES:
        random = Random(n)
        x = [-random.randrange(1, kinds + 1) / 8 for _ in range(n)]
        parts = [x[start : start + threads] for start in range(0, n, threads)]
        values = [max(part) for part in parts]
        places = [k * threads + part.index(max(part)) for k, part in enumerate(parts)]
        blocks = blocks_for(n, threads)
        arguments = {"x": array(x), "values": empty(blocks), "places": empty(blocks, "int32")}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"values": values, "places": places})


EXERCISE = KernelExercise(
    name="largest_and_its_place",
    title="The largest and its place",
    level="intermediate",
    minutes=20,
    teaches="A reduction can carry pairs: a number, and where it stands.",
    pages=("reductions",),
    tags=("shared memory", "barrier", "reduction", "argmax"),
    launches=launches,
    limits=Limits(loop_turns=16),
)

BARRIER = "        cuda.syncthreads()  # what the last round stored is there for all\n"
MISTAKES = (
    Mistake(BARRIER, "", "race"),
    Mistake("                where[t] = where[t + half]\n", "", "wrong"),
    Mistake("if larger or earlier:", "if larger:", "wrong"),
    Mistake("best[t + half] > best[t]", "best[t + half] >= best[t]", "wrong"),
    Mistake("where[t] = i\n", "where[t] = t\n", "wrong"),
    Mistake("i = min(cuda.grid(1), x.size - 1)", "i = cuda.grid(1)", "out_of_range"),
    Mistake("half = cuda.blockDim.x // 2", "half = 128", "uninitialised"),
    Mistake("    if t == 0:", "    if True:", "race"),
)
