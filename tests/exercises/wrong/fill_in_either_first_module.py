"""Keeps the module of its first call.

Found: exception.
"""

_kept = []


def squares(cp, a):
    if not _kept:
        _kept.append(cp.get_array_module(a))
    return _kept[0].square(a)
