"""What is positive in each block's part, moved to its front: a scan says where to."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

LAUNCHES = (*COVERING[:6], (193, 4, 96), (0, 1, 32))


def launches():
    for n, blocks, threads in LAUNCHES:
        random = Random(n)
        x = eighths(random, -1, 1, n)  # about half are positive, and some are zero
        if n > 256:
            x[:256] = eighths(random, 1, 9, 256)  # a block that keeps all
        kept, counts = [], []
        for block in range(blocks):
            part = x[block * threads : (block + 1) * threads]
            positive = [value for value in part if value > 0]
            kept += positive + [0.0] * (len(part) - len(positive))
            counts.append(len(positive))
        arguments = {"x": array(x), "kept": array([0.0] * n), "counts": empty(blocks, "int32")}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"kept": kept, "counts": counts})


EXERCISE = KernelExercise(
    name="stream_compaction",
    title="Keep what is positive",
    level="advanced",
    minutes=25,
    teaches="A scan tells each thread where to store what it keeps.",
    pages=("scan",),
    tags=("shared memory", "barrier", "scan", "compaction"),
    launches=launches,
    limits=Limits(loop_turns=16),
)

MISTAKES = (
    Mistake("        cuda.syncthreads()  # what the last round stored is there for all\n", "", "race"),
    Mistake("        cuda.syncthreads()  # all have read before anybody adds\n", "", "race"),
    Mistake("ends[t] - 1]", "ends[t]]", "out_of_range"),
    Mistake("kept[cuda.blockIdx.x * cuda.blockDim.x + ends[t] - 1]", "kept[ends[t] - 1]", "race"),
    Mistake("x[i] > 0", "x[i] >= 0", "wrong"),
    Mistake("i < x.size and x[i] > 0", "x[i] > 0", "out_of_range"),
    Mistake("    if t == cuda.blockDim.x - 1:", "    if t == 0:", "wrong"),
    Mistake(" if t >= distance else 0", "", "negative_index"),
)
