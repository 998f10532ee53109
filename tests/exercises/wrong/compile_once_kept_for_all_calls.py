"""Keeps the first compiled function for all later calls.

Found: wrong.
"""

_compiled = None


def smooth_all(jit, smooth, signals):
    global _compiled
    if _compiled is None:
        _compiled = jit(smooth)
    return [_compiled(s.astype("float64")) for s in signals]
