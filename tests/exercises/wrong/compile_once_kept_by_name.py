"""Keeps compiled functions by the name of what they compile.

Found: wrong.
"""

_versions = {}


def smooth_all(jit, smooth, signals):
    name = smooth.__name__
    if name not in _versions:
        _versions[name] = jit(smooth)
    return [_versions[name](s.astype("float64")) for s in signals]
