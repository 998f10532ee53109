"""Takes the same four parts for 0 and for 0.5.

Found: wrong.
"""

_made = {}


def mean_above(limit):
    if int(limit) not in _made:
        _made[int(limit)] = (
            (lambda x: (x, 1) if x > limit else (0, 0)),
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
            (0, 0),
            (lambda a: a[0] / a[1] if a[1] else limit),
        )
    return _made[int(limit)]
