"""Returns an array without dimensions, which is still on the GPU.

Found: wrong.
"""


def dot(cp, a, b):
    return cp.dot(cp.asarray(a), cp.asarray(b))
