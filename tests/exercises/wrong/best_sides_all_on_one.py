"""Compares only the two plans that change sides never or at the ends.

Found: wrong.
"""


def best_sides(steps, copy_ms):
    cpu = sum(cpu for cpu, _ in steps)
    gpu = copy_ms[0] + sum(gpu for _, gpu in steps) + copy_ms[-1]
    return ["cpu" if cpu <= gpu else "gpu"] * len(steps)
