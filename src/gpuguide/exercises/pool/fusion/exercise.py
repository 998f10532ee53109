"""Three passes over arrays in one: intermediate results stay in a register."""

from random import Random

from gpuguide.exercises.launches import COVERING, array, eighths, empty, narrow
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n)
        x, y, weight = (eighths(random, 300, 300 + width, n) for width in (3, 3, 18))
        yield launch(f"n = {n}", blocks, threads, x, y, [value * (-1) ** (value > 309) for value in weight])
    # The squares of x and y have no digits left for that of a small difference, so they are no way to it.
    random, n = Random(1000), 64
    x = [narrow(random.uniform(1000, 1001)) for _ in range(n)]
    y = [narrow(value + random.uniform(-1, 1)) for value in x]
    # A few roundings to 24 places: a power of the GPU is off by some more than a product is.
    yield launch(f"n = {n}, x near y", 2, 32, x, y, eighths(random, 1, 3, n), tolerance=48 * 2.0**-24)


def launch(about, blocks, threads, x, y, weight, tolerance=0.0):
    arguments = {"x": array(x), "y": array(y), "weight": array(weight), "out": empty(len(x))}
    expected = {"out": [(x[i] - y[i]) ** 2 * weight[i] for i in range(len(x))]}
    return Launch(about, blocks, threads, arguments, expected, tolerance)


EXERCISE = KernelExercise(
    name="fusion",
    title="Three passes in one",
    level="intermediate",
    minutes=10,
    teaches="Keep intermediate results in a variable: each pass over an array is traffic.",
    pages=("ufuncs", "fusion", "kernel_families", "memory_pools"),
    tags=("registers", "memory", "CuPy"),
    launches=launches,
    limits=Limits(reads_per_element=1, writes_per_element=1, loop_turns=2),
)

LAST = "out[i] = difference * difference * weight[i]"
MISTAKES = (
    Mistake(LAST, "out[i] = difference * difference\n        out[i] *= weight[i]", "limit"),
    Mistake(LAST, "out[i] = difference\n        out[i] = (x[i] - y[i]) * difference * weight[i]", "limit"),
    Mistake(LAST, "out[i] = difference * weight[i]", "wrong"),
    Mistake(LAST, "out[i] = difference * difference * weight", "exception"),
    Mistake("difference = x[i] - y[i]", "difference = x[i] - y[i] * weight[i]", "wrong"),
    Mistake("if i < out.size:", "if i <= out.size:", "out_of_range"),
    Mistake("if i < out.size:", "if True:", "out_of_range"),
)
