"""An array of structs becomes a struct of arrays, so that neighbouring threads read neighbours."""

from random import Random

from gpuguide.exercises.launches import array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Points, blocks, and threads per block.
LAUNCHES = (
    (1, 1, 32),
    (32, 1, 32),
    (33, 2, 32),
    (64, 2, 64),
    (100, 1, 128),
    (203, 3, 96),
    (257, 4, 128),
    (0, 1, 32),
)


def launches():
    for n, blocks, threads in LAUNCHES:
        numbers = [number / 8 for number in range(4 * n)]  # none twice
        Random(n).shuffle(numbers)
        fields = [numbers[4 * i + field] for field in range(4) for i in range(n)]
        arguments = {"points": array(numbers, shape=(n, 4)), "fields": empty((4, n))}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"fields": fields})


EXERCISE = KernelExercise(
    name="aos_to_soa",
    title="Structs into arrays",
    level="intermediate",
    minutes=20,
    teaches="Fields that lie apart are read apart: read what lies together, and sort it in shared memory.",
    pages=("grids_2d_3d", "how_a_gpu_works"),
    tags=("shared memory", "coalesced access", "structs"),
    launches=launches,
    limits=Limits(sectors_per_request=5, loop_turns=8),
)

MISTAKES = (
    Mistake("    cuda.syncthreads()  # the numbers of a point come from other threads\n", "", "race"),
    Mistake("range(t, 4 * width, width)", "range(t, width, width)", "uninitialised"),
    Mistake(
        "        if i < points.shape[0]:\n            tile",
        "        if True:\n            tile",
        "out_of_range",
    ),
    Mistake("tile[4 * t + field]", "tile[t + field * width]", "uninitialised"),
    Mistake("tile[4 * t + field]", "points[i, field]", "uncoalesced"),
    Mistake("points[i, k % 4]", "points[i, k // width]", "wrong"),
    Mistake("cuda.shared.array(512, float32)", "cuda.shared.array(128, float32)", "out_of_range"),
)
