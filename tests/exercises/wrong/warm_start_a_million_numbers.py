"""Copies far more than a compiler needs.

Found: limit.
"""

import numpy as np


def start(cp, make_service, dtypes):
    trial = make_service(cp)
    for dtype in dtypes:
        for _ in range(2):
            trial.answer(np.ones(10**6, dtype))
    return make_service(cp)
