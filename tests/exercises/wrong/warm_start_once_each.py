"""Never takes the path of the second request.

Found: cold.
"""

import numpy as np


def start(cp, make_service, dtypes):
    for dtype in dtypes:
        make_service(cp).answer(np.ones(2, dtype))
    return make_service(cp)
