"""Answers to a miniature exercise, right and wrong, that several tests judge."""

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Exercise, KernelTask, Limits
from gpuguide.exercises.reading import Answer


def calls():
    return launches_1d(build, views=True)


def build(n, rng):
    x = rng.integers(-9, 9, n).astype(np.float32)
    return {"x": x, "out": poisoned(n)}, {"out": 2 * x}


def exercise(limits=None, *, folder=None, lanes=("simulator", "compile", "gpu"), task=None, decided_in=""):
    signature = ("float32[::1]", "float32[::1]")
    return Exercise(
        name="double",
        title="Twice as much",
        level="beginner",
        minutes=5,
        teaches="A kernel writes to its arguments.",
        task=task or KernelTask(calls, limits or Limits(), signature, ("x", "out")),
        lanes=lanes,
        decided_in=decided_in,
        folder=folder,
    )


RIGHT = """\
from numba import cuda


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + x[i]
"""

NO_GUARD = RIGHT.replace("    if i < out.size:\n        out[i]", "    out[i]")
WRONG = RIGHT.replace("x[i] + x[i]", "x[i] + 1")
WRITES_NOTHING = RIGHT.replace("out[i] = x[i] + x[i]", "pass")
CHANGES_INPUT = RIGHT.replace("out[i] = x[i] + x[i]", "x[i] += x[i]\n        out[i] = x[i]")
ENDLESS = RIGHT.replace("    if i < out.size:", "    while i < out.size:")
NOT_COMPILED = RIGHT.replace("x[i] + x[i]", "2 * x.first(i)")


def answer(source=RIGHT):
    return Answer(source, "double_kernel", place="mine.py")
