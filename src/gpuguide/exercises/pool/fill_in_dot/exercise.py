"""Fill in: a product of two vectors that begin on the host."""

import numpy as np

from gpuguide.exercises.judging import at_most, difference, require
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Array, Cupy
from gpuguide.tracer.findings import count

LENGTHS = (3, 1, 1000, 70_001)


def cases():
    for n in LENGTHS:
        # Their sums are exact in float32, whatever the order.
        a, b = (np.random.default_rng(n).integers(-9, 10, (2, n)) / 8).astype(np.float32)
        a[0], b[0] = 256.125, 257.125
        yield Case(f"For {count(n, 'number')}", (Cupy(), a, b), extra=float(np.dot(a.astype(float), b)))


def judge(case, result):
    (cp, a, b), product = case.arguments, case.extra
    require(not isinstance(result, Array), "The product must be a Python number; it was left on the GPU.")
    require(not (wrong := difference(result, product)), wrong)
    there, back = cp.gpu.steps("to_device"), cp.gpu.steps("to_host")
    require(there, "Nothing went to the GPU, which is to multiply and add up.", kind="limit")
    require(back, "Nothing came back from the GPU, which is to multiply and add up.", there, "limit")
    at_most(2, there, "Data went to the GPU")
    nbytes = sum(step.nbytes for step in there)
    message = f"{count(nbytes, 'byte')} went to the GPU; the two vectors have {a.nbytes + b.nbytes}. "
    require(nbytes == a.nbytes + b.nbytes, f"{message}Each must go there once, as it is.", there, "limit")
    large = [step for step in back if step.nbytes > 8]
    message = "More than one number came back. Add up the products on the GPU."
    require(not large, message, large, "limit")
    at_most(1, back, "A number came back", "Whatever the host asks of an array on the GPU is a copy.")
    return f"{count(nbytes, 'byte')} went to the GPU, {back[0].nbytes} came back."


EXERCISE = HostExercise(
    name="fill_in_dot",
    title="Fill in: from the host",
    level="beginner",
    minutes=5,
    teaches="Copy what the GPU needs, compute there, and fetch the one number that is asked for.",
    pages=("data_where_it_is",),
    tags=("CuPy", "copies", "fill in"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("float(product)", "product", "wrong"),
    Mistake("b_gpu = cp.asarray(b)", "b_gpu = b", "exception"),
    Mistake("cp.dot(a_gpu, b_gpu)", "a_gpu * b_gpu", "exception"),
    Mistake("float(product)", "float(cp.asnumpy(a_gpu * b_gpu).sum())", "limit"),
    Mistake("float(product)", "float(product) if product != 0 else 0.0", "limit"),
    Mistake("cp.dot(a_gpu, b_gpu)", "sum(float(x * y) for x, y in zip(a_gpu, b_gpu))", "limit"),
    Mistake("cp.dot(a_gpu, b_gpu)", "cp.sum(cp.asarray(a * b))", "limit"),
    Mistake("cp.dot(a_gpu, b_gpu)", "a @ b", "limit"),
)
