"""What the pages show."""

import numpy as np


def dot(x, out):
    """Sum as a product with ones, of which eight rows are made."""
    out[0] = np.dot(x, np.ones((8, x.size))[0])
    return out
