"""Returns a copy of the service that it warmed up, which would remember as much; and a module has no copy.

Found: exception.
"""

from copy import deepcopy

import numpy as np


def start(cp, make_service, dtypes):
    service = make_service(cp)
    for dtype in dtypes:
        service.answer(np.ones(2, dtype))
        service.answer(np.ones(2, dtype))
    return deepcopy(service)
