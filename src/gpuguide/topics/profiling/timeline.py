"""When each step of the program began and ended, by events, and which of them Python's profiler blames."""

import cProfile
import pstats

from gpuguide.measure import cp
from gpuguide.topics.profiling.study import by_thread, by_warp

SHAPE = (8192, 8192)
LANES = ("differences", "squares", "add up", "fetch")
#: Of the step that adds up.
WAYS = {"thread": by_thread, "warp": by_warp}
N_TIMES = 20


def differences(x):
    return x[:, 1:] - x[:, :-1]


def squares(x):
    return x * x


def adding_up(kernel):
    """Return the step that adds up by a kernel."""

    def add_up(x):
        sums = cp.empty(len(x), cp.float32)
        kernel(x, sums)
        return sums

    return add_up


def fetch(x):
    return x.get()


def steps(way):
    return differences, squares, adding_up(WAYS[way]), fetch


def in_turn(calls, x):
    """Do one step after the other, and return the result."""
    for step in calls:
        x = step(x)
    return x


def signals():
    return cp.random.random(SHAPE, dtype=cp.float32)


def timeline(way):
    """Return begin and end of each step in one run of the program, as an array for a chart."""
    import numpy as np

    x, calls = signals(), steps(way)
    in_turn(calls, x)  # compiles
    stream = cp.cuda.get_current_stream()
    marks = [stream.record()]
    for step in calls:
        x = step(x)
        marks.append(stream.record())
    marks[-1].synchronize()
    at = [cp.cuda.get_elapsed_time(marks[0], mark) / 1e3 for mark in marks]
    return np.array([list(zip(at, at[1:], strict=False))])


def blamed(way):
    """Return the share of the time that Python's profiler books on the step that fetches."""
    x, calls = signals(), steps(way)
    in_turn(calls, x)
    with cProfile.Profile() as profiler:
        for _ in range(N_TIMES):
            in_turn(calls, x)
    stats = pstats.Stats(profiler)
    booked = {name: times[3] for (_, _, name), times in stats.stats.items()}
    return booked["fetch"] / booked["in_turn"]
