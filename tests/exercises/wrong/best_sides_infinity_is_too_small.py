"""Begins with ten million milliseconds, which some programs take longer than.

Found: wrong.
"""

from itertools import product


def best_sides(steps, copy_ms):
    best_ms, best = 10_000_000, ["cpu"] * len(steps)
    for plan in product(("cpu", "gpu"), repeat=len(steps)):
        at, ms = "cpu", 0
        for (c, g), copy, side in zip(steps, copy_ms[:-1], plan, strict=True):
            ms += (c if side == "cpu" else g) + (copy if side != at else 0)
            at = side
        ms += copy_ms[-1] if at == "gpu" else 0
        if ms < best_ms:
            best_ms, best = ms, list(plan)
    return best
