"""An image made comparable with others, in steps that need not leave the GPU."""

import numpy as np

from gpuguide.exercises.judging import at_most, require
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy

SHAPES = ((4, 6), (1, 2), (33, 17), (128, 64))


def cases():
    for rows, columns in SHAPES:
        # Most numbers are near the middle, so that even few of them have some beyond either limit.
        far = np.random.default_rng(columns).uniform(-1, 1, (rows, columns)) ** 3
        image = (125 + 125 * far).astype(np.float32)
        exact = image - image.mean(dtype=float)
        limit = 2 * np.abs(exact).mean()
        expected = (np.clip(exact, -limit, limit) / limit).astype(np.float32)
        yield Case(f"For an image of {rows} x {columns}", (Cupy(), image), expected, tolerance=1e-5)


def judge(case, result):
    cp, image = case.arguments
    there, back = cp.gpu.steps("to_device"), cp.gpu.steps("to_host")
    at_most(1, there, "Data went to the GPU")
    at_most(1, back, "Data came back to the host", "A single number that the host reads is a copy, too.")
    require(there and back, "Nothing went to the GPU and came back: all steps belong there.", kind="limit")
    message = "What went to the GPU is not the image as it is: all steps belong on the GPU."
    same = cp.sent[0].dtype == image.dtype and np.array_equal(cp.sent[0].ravel(), image.ravel())
    require(same, message, there, kind="limit")
    message = "What came back is not the result yet: all steps belong on the GPU."
    require(np.array_equal(cp.fetched[0].ravel(), result.ravel()), message, back, kind="limit")
    return f"One copy there, {len(cp.gpu.steps('launch'))} launches, one copy back."


EXERCISE = HostExercise(
    name="count_transfers",
    title="One copy each way",
    level="beginner",
    minutes=15,
    teaches="Data that the next step needs stay on the GPU; a number that the host reads is a copy, too.",
    pages=("numpy_to_cupy", "sort_search", "transfers", "data_where_it_is", "slicing"),
    tags=("CuPy", "copies", "synchronisation"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("x - cp.mean(x)", "x - float(cp.mean(x))", "limit"),
    Mistake("2 * cp.mean(cp.abs(x))", "2 * cp.asnumpy(cp.mean(cp.abs(x)))", "limit"),
    Mistake("2 * cp.mean(cp.abs(x))", "cp.mean(cp.abs(x))", "wrong"),
    Mistake("cp.asnumpy(cp.clip(x, -limit, limit) / limit)", "cp.clip(x, -limit, limit) / limit", "wrong"),
    Mistake("x = cp.asarray(image)", "x = image", "exception"),
    Mistake("x = cp.asarray(image)\n    x = x - cp.mean(x)", "x = cp.asarray(image - image.mean())", "limit"),
)
