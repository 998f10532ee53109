"""Writes the scores of all tables of a shape into one array.

Found: wrong.
"""

_buf = {}


def scores(readings):
    xp = readings.__array_namespace__()
    key = (readings.shape, readings.dtype)
    if key not in _buf:
        _buf[key] = xp.empty_like(readings)
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    _buf[key][...] = (readings - m) / xp.where(s > 0, s, xp.ones_like(s))
    return _buf[key]
