"""Brings everything to the GPU.

Found: wrong.
"""


def squares(cp, a):
    xp = cp
    return xp.square(xp.asarray(a))
