"""Changes one step or two as long as that makes a plan better, from three plans.

Found: wrong.
"""


def best_sides(steps, copy_ms):
    n = len(steps)

    def ms(plan):
        where = [0, *plan, 0]
        return sum(s[p] for s, p in zip(steps, plan, strict=False)) + sum(
            c for c, u, v in zip(copy_ms, where, where[1:], strict=False) if u != v
        )

    found = []
    for plan in ([int(g < c) for c, g in steps], [0] * n, [1] * n):
        better = True
        while better:
            better = False
            for w in (1, 2):
                for i in range(n - w + 1):
                    other = plan[:i] + [1 - p for p in plan[i : i + w]] + plan[i + w :]
                    if ms(other) < ms(plan):
                        plan, better = other, True
        found.append(plan)
    return ["gpu" if p else "cpu" for p in min(found, key=ms)]
