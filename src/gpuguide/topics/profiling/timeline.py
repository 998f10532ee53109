"""When each step of the program began and ended, by events, and which of them Python's profiler blames."""

import cProfile
from itertools import pairwise

import numpy as np

from gpuguide.measure import cp
from gpuguide.topics.profiling.study import SIDE, turned

N_TIMES = 20


def differences(x):
    return x[:, 1:] - x[:, :-1]


def roughness(x):
    return (x * x).sum(axis=1)


def fetch(x):
    return x.get()


def turned_by_tiles(x):
    return turned(x, by_tiles=True)


#: The four steps, with each kernel.
WAYS = {
    "threads": (turned, differences, roughness, fetch),
    "tiles": (turned_by_tiles, differences, roughness, fetch),
}


def in_turn(steps, x):
    """Do one step after the other, and return the result."""
    for step in steps:
        x = step(x)
    return x


def signals():
    return cp.random.random((SIDE, SIDE), dtype=cp.float32)


def timeline(way):
    """Return begin and end of each step in one run of the program, as an array for a chart."""
    x, steps = signals(), WAYS[way]
    for _ in range(3):  # the first compiles
        in_turn(steps, x)
    for _ in range(
        8
    ):  # work for the GPU while Python launches the steps, so that it does not wait
        x + x
    stream = cp.cuda.get_current_stream()
    marks = [stream.record()]
    for step in steps:
        x = step(x)
        marks.append(stream.record())
    marks[-1].synchronize()
    at = [cp.cuda.get_elapsed_time(marks[0], mark) / 1e3 for mark in marks]
    return np.array([list(pairwise(at))])


def blamed():
    """Return the share of its time that Python's profiler books on the step that fetches."""
    x, steps = signals(), WAYS["threads"]
    in_turn(steps, x)
    cp.cuda.Device().synchronize()
    with cProfile.Profile() as profiler:
        for _ in range(N_TIMES):
            in_turn(steps, x)
    # With what each function calls; the code of a built-in one is its name.
    booked = {
        getattr(entry.code, "co_name", ""): entry.totaltime for entry in profiler.getstats()
    }
    return booked["fetch"] / booked["in_turn"]
