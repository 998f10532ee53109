"""Tries all plans, and returns the best one as it is, a tuple."""

from itertools import product


def best_sides(steps, copy_ms):
    def time(plan):
        places = ("cpu", *plan, "cpu")
        total = sum(ms for ms, a, b in zip(copy_ms, places, places[1:], strict=False) if a != b)
        return total + sum(step[side == "gpu"] for step, side in zip(steps, plan, strict=True))

    return min(product(("cpu", "gpu"), repeat=len(steps)), key=time)
