import numpy as np


def start(cp, make_service, dtypes):
    """Return a service whose answers compile nothing."""
    trial = make_service(cp)  # what it remembers goes with it
    for dtype in dtypes:
        trial.answer(np.ones(2, dtype))
        trial.answer(np.ones(2, dtype))  # takes another path than the first one
    return make_service(cp)
