"""The negative of a picture: one thread per pixel, in a grid that fits exactly."""

from random import Random

from gpuguide.exercises.launches import array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

# Blocks and threads per block. Several threads first: what is said of work that is not shared shows there.
LAUNCHES = ((2, 32), (1, 1), (5, 1), (3, 32), (1, 96), (4, 96), (5, 256))


def launches():
    for blocks, threads in LAUNCHES:
        n = blocks * threads
        pixels = [Random(n).randint(0, 255) for _ in range(n)]
        arguments = {"pixels": array(pixels, "uint8"), "out": empty(n, "uint8")}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"out": [255 - pixel for pixel in pixels]})


EXERCISE = KernelExercise(
    name="map",
    title="One thread, one pixel",
    level="beginner",
    minutes=5,
    teaches="A kernel is the body of a loop, and `cuda.grid(1)` is its loop variable.",
    pages=("first_kernel",),
    tags=("grid", "thread", "map"),
    launches=launches,
    limits=Limits(active_threads=0.9, loop_turns=1),
)

LINE = "    out[i] = 255 - pixels[i]\n"
MISTAKES = (
    Mistake("cuda.grid(1)", "cuda.threadIdx.x", "wrong"),
    Mistake("cuda.grid(1)", "cuda.blockIdx.x", "wrong"),
    Mistake(LINE, f"    for i in range(pixels.size):\n    {LINE}", "limit"),
    Mistake("255 - pixels[i]", "256 - pixels[i]", "wrong"),
    Mistake("out[i] = 255 - pixels[i]", "pixels[i] = 255 - pixels[i]", "input_changed"),
    Mistake("out[i] = 255 - pixels[i]", "return 255 - pixels[i]", "compile"),
)
