"""A queue moves up in place: the race between reading a neighbour and overwriting it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR, in_words
from gpuguide.exercises.model import Call, Exercise, KernelTask

# One has too many elements for each thread for any fixed run of them, and one too many for shared memory.
LENGTHS = {1: (0, 1, 2, 7), 32: (31, 32, 33, 1231), 96: (32, 96, 97, 193), 256: (255, 256, 257, 521, 12_545)}
SPARE_TURNS = 7


def calls() -> list[Call]:
    """Make launches of one block, with n below its width, equal to it, and then above.

    In the first ones a thread for each element is enough, so that the obvious answer is told its race.
    """
    pairs = [(n, threads) for threads, several in LENGTHS.items() for n in several]
    pairs.sort(key=lambda pair: pair[0] > pair[1])
    return [*(_call(n, threads) for n, threads in pairs), replace(_call(FAR, 256), gpu_only=True)]


def _call(n: int, threads: int) -> Call:
    places = np.random.default_rng(n).permutation(n)
    # Of either sign, and with more digits than half precision has.
    x = places.astype(np.float32) / 8 + 1024
    x = np.where(places % 2, -x, x)
    if n > 32:  # no number is free to mark a place without an element, and a difference would be rounded
        x[n // 2 - 2 : n // 2 + 2] = 0, -1, 2.0**80, -(2.0**80)
    expected = np.concatenate([x[1:], x[-1:]])
    label = f"n = {n}, {in_words((1,), (threads,))}"
    turns = -(-n // threads) + SPARE_TURNS
    return Call(label, (1,), (threads,), {"x": x}, {"x": expected}, loop_turns=turns)


EXERCISE = Exercise(
    name="shift_in_place",
    title="Moving up in the queue",
    level="intermediate",
    minutes=20,
    teaches="Reading what another thread overwrites is a race; in a loop all threads must reach the barrier.",
    task=KernelTask(
        calls=calls,
        signature=("float32[::1]",),
        parameters=("x",),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("memory_model", "debugging"),
    tags=("race", "barrier", "loop"),
)
