"""Sets what the service remembers to zero, so that it goes on as one that has seen the dtypes.

Found: wrong.
"""

import numpy as np


def start(cp, make_service, dtypes):
    service = make_service(cp)
    for dtype in dtypes:
        service.answer(np.ones(2, dtype))
        service.answer(np.ones(2, dtype))
        service.largest[np.dtype(dtype)] = 0
    return service
