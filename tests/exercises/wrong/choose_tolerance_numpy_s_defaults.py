"""Takes the bounds that np.isclose has by default.

Found: wrong.
"""

import numpy as np


def close_enough(result, reference, n, threads, magnitude, integers):
    return bool(np.isclose(result, reference))
