"""Remembers a plan by the steps alone.

Found: wrong.
"""

_known = {}


def best_sides(steps, copy_ms):
    key = tuple(map(tuple, steps))
    if key in _known:
        return _known[key]
    h, d = (0, []), (copy_ms[0], [])
    for (c, g), k in zip(steps, copy_ms[1:], strict=False):
        hc, dg = (h[0] + c, h[1] + ["cpu"]), (d[0] + g, d[1] + ["gpu"])
        h, d = min(hc, (dg[0] + k, dg[1])), min(dg, (hc[0] + k, hc[1]))
    _known[key] = h[1]
    return h[1]
