"""Fahrenheit to Celsius: Python's floats have 64 bits, and they spread."""

from math import nan
from random import Random

from gpuguide.exercises.launches import COVERING, array, empty, narrow
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake


def launches():
    for n, blocks, threads in COVERING:
        random = Random(n)
        fahrenheit = [narrow(random.uniform(-40, 500)) for _ in range(n)]
        celsius = [(degrees - 32) * 5 / 9 for degrees in fahrenheit]
        if n > 5:  # one is missing
            fahrenheit[5] = celsius[5] = nan
        arguments = {"fahrenheit": array(fahrenheit), "celsius": empty(n)}
        yield Launch(f"n = {n}", blocks, threads, arguments, {"celsius": celsius}, tolerance=1e-4)


EXERCISE = KernelExercise(
    name="float64_by_accident",
    title="Float64 by accident",
    level="intermediate",
    minutes=10,
    teaches="A Python float has 64 bits and silently turns float32 arithmetic into float64.",
    pages=("numba_types",),
    tags=("dtype", "float64", "compiler"),
    launches=launches,
    limits=Limits(active_threads=0.9, loop_turns=1, float64=False),
)

RIGHT = "(fahrenheit[i] - float32(32.0)) * float32(5 / 9)"
MISTAKES = (
    Mistake("float32(32.0)", "32.0", "float64"),
    Mistake("float32(32.0)", "32", "float64"),
    Mistake("float32(5 / 9)", "(5 / 9)", "float64"),
    Mistake("float32(5 / 9)", "float32(5) / 9", "float64"),
    Mistake(RIGHT, "float32((fahrenheit[i] - 32.0) * 5.0 / 9.0)", "float64"),
    Mistake(RIGHT, "fahrenheit[i] - float32(32.0) * float32(5 / 9)", "wrong"),
    Mistake("float32(5 / 9)", "float32(5 // 9)", "wrong"),
    Mistake("if i < fahrenheit.size:", "if True:", "out_of_range"),
)
