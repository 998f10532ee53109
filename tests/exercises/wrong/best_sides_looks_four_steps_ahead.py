"""Chooses the side of a step by the best plan for it and the next three.

Found: wrong.
"""

from itertools import product


def best_sides(steps, copy_ms):
    plan, side, n = [], "cpu", len(steps)
    for i in range(n):

        def time(sides, i=i, side=side):
            places = (side, *sides)
            total = sum(copy_ms[i + k] for k in range(len(sides)) if places[k] != places[k + 1])
            total += sum(steps[i + k][where == "gpu"] for k, where in enumerate(sides))
            return total + (copy_ms[i + len(sides)] if places[-1] == "gpu" else 0)

        side = min(product(("cpu", "gpu"), repeat=min(4, n - i)), key=time)[0]
        plan.append(side)
    return plan
