"""Takes it that a kernel serves every dtype.

Found: cold.
"""

import numpy as np


def start(cp, make_service, dtypes):
    trial = make_service(cp)
    for _ in range(2):
        trial.answer(np.ones(2, dtypes[0]))
    return make_service(cp)
