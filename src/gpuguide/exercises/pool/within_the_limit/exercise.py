"""An expression over an array that does not fit: in chunks, within a limit of memory."""

import numpy as np

from gpuguide.exercises.judging import at_most, require
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy

# Numbers of the recording, their type, the limit in bytes, and how near the results must be.
RECORDINGS = (
    (300, np.float64, 30_000, 1e-12),
    (1001, np.float32, 1600, 1e-5),
    (5, np.float64, 64, 1e-12),
    (1009, np.float64, 1024, 1e-12),
    (0, np.float32, 512, 1e-5),
)


def cases():
    for n, dtype, limit, tolerance in RECORDINGS:
        x = np.random.default_rng(n).uniform(-9, 9, n).astype(dtype)
        about = f"For {n} numbers of {x.dtype} and a limit of {limit} bytes"
        expected = np.log1p(x.astype(float) ** 2).astype(dtype)
        yield Case(about, (Cupy(limit=limit), x, limit), expected, tolerance)


def judge(case, result):
    cp, x, limit = case.arguments
    if not x.size:
        return None
    ways = (
        ("to_device", cp.sent, x, "Data went to the GPU", "the recording as it is"),
        ("to_host", cp.fetched, result, "Data came back to the host", "the result"),
    )
    for kind, copies, whole, what, that in ways:
        steps, nbytes = cp.gpu.steps(kind), sum(each.nbytes for each in copies)
        where = what.partition(" ")[2]
        require(steps, f"Nothing {where}: all steps belong on the GPU.", kind="limit")
        same = all(each.dtype == x.dtype and np.isin(each, whole).all() for each in copies)
        require(same, f"What {where} is not {that}: all steps belong on the GPU.", steps[:1], "limit")
        # A number may cross twice: an array that is made like another one needs only its type.
        message = f"{nbytes} bytes {where}; the recording has {x.nbytes}, and each should cross once."
        require(0 <= nbytes - x.nbytes <= x.itemsize, message, steps[:1], "limit")
        at_most(-(-x.nbytes * 8 // limit) + 1, steps, what, "Take larger chunks.")
    return (
        f"At most {cp.most_used} of {limit} bytes were used at a time, in {len(cp.sent)} copies to the GPU."
    )


EXERCISE = HostExercise(
    name="within_the_limit",
    title="Stay within the limit",
    level="intermediate",
    minutes=15,
    teaches="Work in chunks and in place, and remember that a name keeps its array's memory.",
    pages=("memory_pools", "random_numbers", "overlap"),
    tags=("CuPy", "memory", "chunks"),
    cases=cases,
    judge=judge,
)

SENT = "cp.asarray(x[start : start + n])  # the old one lives until this one is there\n"
MISTAKES = (
    Mistake("limit // (4 * x.itemsize)", "limit // x.itemsize", "exception"),
    Mistake("limit // (4 * x.itemsize)", "limit // 4", "exception"),
    Mistake("limit // (4 * x.itemsize)", "8", "limit"),
    Mistake("range(0, len(x), n)", "range(0, len(x) - n, n)", "wrong"),
    Mistake("chunk += 1\n        cp.log(chunk, out=chunk)", "cp.log(chunk, out=chunk)", "wrong"),
    Mistake(SENT + "        chunk *= chunk\n", SENT.replace("]", "] ** 2"), "limit"),
    Mistake("np.empty_like(x)", "np.empty(len(x))", "exception"),
    Mistake("chunk.get(out=out[start : start + n])", "chunk.get()", "wrong"),
)
