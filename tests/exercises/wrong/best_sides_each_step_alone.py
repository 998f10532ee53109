"""Sends a step to the GPU only if that pays for both of its own copies.

Found: wrong.
"""


def best_sides(steps, copy_ms):
    rows = zip(steps, copy_ms, copy_ms[1:], strict=False)
    return ["gpu" if gpu + before + after < cpu else "cpu" for (cpu, gpu), before, after in rows]
