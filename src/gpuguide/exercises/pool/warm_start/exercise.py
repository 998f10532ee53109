"""A service that must not compile while its clients wait, and must not remember how it was warmed up."""

import numpy as np

from gpuguide.exercises.judging import difference, require
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy

HALF, SINGLE, DOUBLE = map(np.dtype, ("float16", "float32", "float64"))
# The dtypes that are announced, and those of the requests that come.
SERIES = (
    ((SINGLE,), (SINGLE, SINGLE, SINGLE)),
    ((SINGLE, DOUBLE), (DOUBLE, SINGLE, DOUBLE, SINGLE)),
    ((DOUBLE, HALF, SINGLE), (HALF, SINGLE, HALF)),
)
MOST_BYTES = 4096


class Service:
    """Divides each array by the largest magnitude of its dtype so far."""

    def __init__(self, cp):
        self.cp, self.largest = cp, {}

    def answer(self, x):
        x_device = self.cp.asarray(x)
        largest = self.cp.abs(x_device).max()
        if x.dtype in self.largest:
            largest = self.cp.maximum(self.largest[x.dtype], largest)
        self.largest[x.dtype] = largest
        return self.cp.asnumpy(x_device / largest)


def cases():
    for dtypes, requests in SERIES:
        yield Case(f"For {' and '.join(map(str, dtypes))}", (Cupy(), Service, [*dtypes]), extra=requests)


def judge(case, service):
    cp, copies = case.arguments[0], case.arguments[0].gpu.steps("to_device")
    require(isinstance(service, Service), f"A service must be returned; got {type(service).__name__}.")
    require(not service.largest, "The service remembers its warm-up: return one that has seen nothing yet.")
    nbytes = sum(step.nbytes for step in copies)
    message = f"The start copied {nbytes} bytes to the GPU; {MOST_BYTES} are allowed."
    require(nbytes <= MOST_BYTES, message, copies, kind="limit")
    largest = dict.fromkeys(case.extra, 0.0)
    for number, dtype in enumerate(case.extra, 1):
        x = (np.arange(1, 4) * 2.0 ** (number - 20)).astype(dtype)
        largest[dtype] = max(largest[dtype], x.max())
        before, answer = len(cp.gpu.log), service.answer(x)
        require(not (wrong := difference(answer, x / largest[dtype])), f"Request {number}: {wrong}")
        compiled = ", ".join(step.name for step in cp.gpu.log[before:] if step.compiled)
        message = f"While client {number} waited for its answer in {dtype}, CuPy compiled {compiled}."
        require(not compiled, f"{message} No answer at the start had needed it.", kind="compiled")


EXERCISE = HostExercise(
    name="warm_start",
    title="A service that starts warm",
    level="beginner",
    minutes=10,
    teaches="Kernels belong to the process, and each dtype and each path through the code has its own.",
    pages=("first_call", "compile_cost"),
    tags=("first call", "compiling", "CuPy"),
    cases=cases,
    judge=judge,
)

TWICE = "        trial.answer(np.ones(2, dtype))  # takes another path than the first one\n"
MISTAKES = (
    Mistake(TWICE, "", "compiled"),
    Mistake("return make_service(cp)", "return trial", "wrong"),
    Mistake("for dtype in dtypes:", "for dtype in dtypes[:1]:", "compiled"),
    Mistake("return make_service(cp)", "pass", "wrong"),
    Mistake("(np.ones(2, dtype))  #", "(np.ones(2))  #", "compiled"),
    Mistake("(np.ones(2, dtype))  #", "(np.ones(10_000, dtype))  #", "limit"),
)
