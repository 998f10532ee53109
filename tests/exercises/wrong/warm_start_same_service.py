"""Warms up the service itself, which remembers the invented numbers.

Found: wrong.
"""

import numpy as np


def start(cp, make_service, dtypes):
    service = make_service(cp)
    for dtype in dtypes:
        for _ in range(2):
            service.answer(np.ones(2, dtype))
    return service
