"""Bytes become bits: coalesced loads into shared memory, and reads that keep to different banks."""

from random import Random

from gpuguide.exercises.launches import array, empty
from gpuguide.exercises.model import KernelExercise, Launch, Limits, Mistake

THREADS = 64
# How many words, and how many blocks: exactly enough, or one more.
LAUNCHES = ((1, 1), (64, 2), (200, 4), (0, 1))


def launches():
    for n, blocks in LAUNCHES:
        random = Random(n)
        words = [random.getrandbits(32) for _ in range(n)]
        words[1:3] = [0, 2**32 - 1] if n > 2 else words[1:3]
        crossed = [1 - (word >> k & 1) for word in words for k in range(32)]
        arguments = {"crossed": array(crossed, "uint8"), "words": empty(n, "uint32")}
        yield Launch(f"n = {n}", blocks, THREADS, arguments, {"words": words})


EXERCISE = KernelExercise(
    name="pack_bits",
    title="Bytes into bits",
    level="intermediate",
    minutes=25,
    teaches="Threads that start in different places of shared memory keep out of each other's banks.",
    pages=("segmented_sieve",),
    tags=("shared memory", "bank conflict", "coalesced access"),
    launches=launches,
    limits=Limits(sectors_per_request=4, bank_conflicts=1, loop_turns=64),
)

LOAD = "range(t, min(2048, crossed.size - first), 64)"
OWN = "range(32 * t, min(32 * t + 32, crossed.size - first))"
MISTAKES = (
    Mistake("    cuda.syncthreads()  # all bytes are there\n", "", "race"),
    Mistake("place = (k + t) % 32", "place = k", "bank_conflict"),
    Mistake(LOAD, OWN, "uncoalesced"),
    Mistake("1 << place", "1 << k", "wrong"),
    Mistake(LOAD, "range(t, 2048, 64)", "out_of_range"),
    Mistake("crossed[first + i]", "crossed[i]", "wrong"),
    Mistake("if w < words.size:", "if True:", "out_of_range"),
    Mistake("== 0:", "== 1:", "wrong"),
)
