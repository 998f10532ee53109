"""Fill in: a function that works where its array lies."""

import numpy as np

from gpuguide.exercises.judging import on_one_side
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy

TABLES = (
    np.array([[1, -2, 3], [300, -40_001, 46_339]], np.int32),
    np.array([-4, 0, 2.5, 300.125, -0.375], np.float32),
)


def cases():
    for table in TABLES:
        cp = Cupy()
        yield Case(f"For {table.dtype} on the GPU", (cp, cp.put(table)), cp.put(table * table))
        yield Case(f"For {table.dtype} on the host", (Cupy(), table.copy()), table * table)


def judge(case, result):
    on_one_side(case.arguments[0].gpu)


EXERCISE = HostExercise(
    name="fill_in_either",
    title="Fill in: either side",
    level="beginner",
    minutes=5,
    teaches="NumPy's and CuPy's functions have the same names; an array knows whose it is.",
    pages=("numpy_to_cupy",),
    tags=("CuPy", "NumPy", "fill in"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("xp = cp.get_array_module(a)", "xp = cp", "exception"),
    Mistake("cp.get_array_module(a)", "cp.get_array_module", "exception"),
    Mistake("xp.square(a)", "cp.square(cp.asarray(a))", "wrong"),
    Mistake("xp.square(a)", "xp.asarray(cp.asnumpy(a) ** 2)", "limit"),
    Mistake("return xp.square(a)", "a *= a\n    return a", "input_changed"),
    Mistake("return xp.square(a)", "xp.square(a)", "wrong"),
)
