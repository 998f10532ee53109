"""What the pages show."""

import math

import numpy as np

PARTS = 2


def dot(x, out):
    """Sum as a product with ones, of which eight rows are made."""
    out[0] = np.dot(x, np.ones((8, x.size))[0])
    return out


def slow(x, out):
    """Sum one number at a time."""
    out[0] = math.fsum(x)
    return out


def halves(x, out):
    """Sum each half."""
    out[0] = sum(part.sum() for part in np.array_split(x, PARTS))
    return out
