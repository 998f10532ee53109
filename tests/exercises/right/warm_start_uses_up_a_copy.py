"""Takes one dtype after the other off a list of its own, with a service for each."""

import numpy as np


def start(cp, make_service, dtypes):
    left = list(dtypes)
    while left:
        x = np.arange(3).astype(left.pop())
        trial = make_service(cp)
        for _ in range(2):
            trial.answer(x)
    return make_service(cp)
