"""Tries all plans, and finds none that takes a second or longer.

Found: wrong.
"""

from itertools import product


def best_sides(steps, copy_ms):
    best, least = [], 1000
    for plan in product(("cpu", "gpu"), repeat=len(steps)):
        places = ("cpu", *plan, "cpu")
        time = sum(ms for ms, a, b in zip(copy_ms, places, places[1:], strict=False) if a != b)
        time += sum(step[side == "gpu"] for step, side in zip(steps, plan, strict=True))
        if time < least:
            best, least = list(plan), time
    return best
