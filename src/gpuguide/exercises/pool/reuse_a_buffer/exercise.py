"""A pipeline with a stream for each kind of work: events keep its steps in order."""

from itertools import count

import numpy as np

from gpuguide.exercises.judging import in_order, in_time, require, seconds
from gpuguide.exercises.model import Case, HostExercise, Mistake
from gpuguide.exercises.stand_in_cupy import Cupy, bounds
from gpuguide.exercises.virtual_gpu import Costs, VirtualGpu
from gpuguide.tracer import findings

N = 1000
# In words, then the seconds of a copy in, of the work and of a copy out, chunks and pairs.
MACHINES = (
    ("all steps take equally long", (1e-4, 1e-4, 1e-4), 8, 2),
    ("there is one pair of arrays", (1e-4, 7e-5, 8e-5), 4, 1),
    ("there are more pairs than chunks", (1e-4, 1e-4, 1e-4), 2, 3),
    ("there is nothing to do", (1e-4, 1e-4, 1e-4), 0, 2),
    ("copies in are slow", (2e-4, 6e-5, 5e-5), 7, 3),
    ("the work is slow", (8e-5, 2.5e-4, 8e-5), 9, 2),
    ("copies out are slow", (5e-5, 9e-5, 2.5e-4), 6, 2),
)


def cases():
    for about, (in_s, work_s, out_s), chunks, pairs in MACHINES:
        rates = {"in_rate": 4 * N / in_s, "out_rate": 4 * N / out_s}
        gpu = VirtualGpu(Costs(launch_s=1e-7, compile_s=0, wake_s=1e-7, **rates))
        cp = Cupy(gpu)
        x_host = np.random.default_rng(chunks).integers(1, 99, (chunks, N)).astype(np.float32)
        out_host = np.full_like(x_host, np.nan)
        gpu.pinned += [bounds(x_host), bounds(out_host)]
        streams = tuple(gpu.stream() for _ in range(3))
        buffers = [(cp.put(np.zeros(N, np.float32)), cp.put(np.zeros(N, np.float32))) for _ in range(pairs)]
        text = f"On a machine where {about}, with {findings.count(chunks, 'chunk')}"
        text += f" and {findings.count(pairs, 'pair')}"
        arguments = (streams, buffers, x_host, out_host, work_on(gpu, work_s))
        yield Case(text, arguments, changes=(3,), extra=(gpu, (in_s, work_s, out_s)))


def work_on(gpu, work_s):
    numbers = count()

    def work(x, out):
        name = f"the work on chunk {next(numbers)}"
        gpu.launch(name, work_s, reads=(bounds(x),), writes=(bounds(out),))
        out._data[...] = 3 * x._data

    return work


def judge(case, result):
    _, pairs, x_host, out_host, _ = case.arguments
    gpu, (in_s, work_s, out_s) = case.extra
    for i, (row, x) in enumerate(zip(out_host, x_host, strict=True)):
        message = f"Row {i} of out_host is not the result for the same row of x_host."
        require(np.array_equal(row, 3 * x), message)
    in_order(gpu)
    # When each chunk has arrived, was worked on, and was fetched, if each step waits for what it needs alone.
    arrived, worked, fetched = ([0.0] * len(pairs) for _ in range(3))
    for i in range(len(x_host)):
        arrived.append(max(arrived[-1], worked[i]) + in_s)
        worked.append(max(worked[-1], arrived[-1], fetched[i]) + work_s)
        fetched.append(max(fetched[-1], worked[-1]) + out_s)
    in_time(gpu, fetched[-1])
    if not len(x_host):
        return None
    alone = len(x_host) * (in_s + work_s + out_s)
    return f"{len(x_host)} chunks in {seconds(fetched[-1])}; one step after the other takes {seconds(alone)}."


EXERCISE = HostExercise(
    name="reuse_a_buffer",
    title="Reuse a buffer in time",
    level="intermediate",
    minutes=20,
    teaches="Streams know nothing of each other: events say when a buffer is full, and when it is free.",
    pages=("overlap", "streams"),
    tags=("CuPy", "streams", "events", "copies"),
    cases=cases,
    judge=judge,
)

MISTAKES = (
    Mistake("        if before >= 0:\n            copy_in.wait_event(worked[before])\n", "", "race"),
    Mistake("        if before >= 0:\n            compute.wait_event(fetched[before])\n", "", "race"),
    Mistake("        copy_out.wait_event(worked[i])\n", "", "race"),
    Mistake("compute.wait_event(copy_in.record())", "copy_in.synchronize()", "limit"),
    Mistake("before = i - len(pairs)", "before = i - 1", "limit"),
    Mistake("        with compute:\n            work(x, out)", "        work(x, out)", "race"),
    Mistake("pairs[i % len(pairs)]", "pairs[0]", "race"),
    Mistake("    copy_out.synchronize()", "    compute.synchronize()", "unfinished"),
)
