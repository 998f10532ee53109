"""Sets up the service that has answered once more.

Found: wrong.
"""

import numpy as np


def start(cp, make_service, dtypes):
    service = make_service(cp)
    for d in dtypes:
        service.answer(np.ones(2, d))
        service.answer(np.ones(2, d))
    service.__init__(cp)
    return service
