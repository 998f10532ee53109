"""Replaces what the service remembers, which is no business of who uses it.

Found: wrong.
"""

import numpy as np


def start(cp, make_service, dtypes):
    service = make_service(cp)
    for dtype in dtypes:
        service.answer(np.ones(2, dtype))
        service.answer(np.ones(2, dtype))
    service.largest = {}
    return service
