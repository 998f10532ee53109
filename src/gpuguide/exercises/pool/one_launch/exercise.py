"""Each row of a table by its own factor: a thousand small launches, or one."""

import numpy as np

from gpuguide.exercises.judging import at_most, on_one_side
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy
from gpuguide.tracer.findings import count

SHAPES = ((4, 6), (3, 3), (1, 5), (5, 1), (1000, 16), (0, 4))


def cases():
    for rows, columns in SHAPES:
        rng, cp = np.random.default_rng(rows), Cupy()
        # Products are exact in single precision, and too long for half.
        x = (rng.integers(-7999, 8000, (rows, columns)) / 8).astype(np.float32)
        factors = (rng.integers(16, 72, rows) / 8).astype(np.float32)
        about = f"For a table of {count(rows, 'row')} and {count(columns, 'column')}"
        yield Case(about, (cp, cp.put(x), cp.put(factors)), cp.put(x * factors[:, np.newaxis]))


def judge(case, result):
    gpu, rows = case.arguments[0].gpu, len(case.arguments[1])
    on_one_side(gpu)
    launches = gpu.steps("launch")
    at_most(1, launches, "A kernel was launched", "Each costs the host as much as one for the whole table.")
    return f"One launch for {count(rows, 'row')}." if launches else None


EXERCISE = HostExercise(
    name="one_launch",
    title="One launch for all rows",
    level="beginner",
    minutes=10,
    teaches="A launch costs the host the same, however little work it does: do all the work in one.",
    pages=("launch_overhead",),
    tags=("CuPy", "launch", "broadcasting"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("factors[:, cp.newaxis]", "factors", "exception"),
    Mistake("factors[:, cp.newaxis]", "factors[cp.newaxis, :]", "exception"),
    Mistake("x * factors[:, cp.newaxis]", "cp.stack([row * f for row, f in zip(x, factors)])", "limit"),
    Mistake("factors[:, cp.newaxis]", "cp.repeat(factors, x.shape[1]).reshape(x.shape)", "limit"),
    Mistake("x * factors[:, cp.newaxis]", "cp.asarray(x.get() * factors.get()[:, None])", "limit"),
    Mistake(
        "return x * factors[:, cp.newaxis]", "x *= factors[:, cp.newaxis]\n    return x", "input_changed"
    ),
    Mistake("return x", "x", "wrong"),
)
