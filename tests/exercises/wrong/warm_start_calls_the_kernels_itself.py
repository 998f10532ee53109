"""Calls what one service calls, and asks none.

Found: cold.
"""

import numpy as np


def start(cp, make_service, dtypes):
    for d in dtypes:
        x = cp.asarray(np.ones(2, d))
        m = cp.abs(x).max()
        m = cp.maximum(m, m)
        cp.asnumpy(x / m)
    return make_service(cp)
