"""Asks with arrays of CuPy, which no client sends: the copy to the GPU is left out.

Found: exception.
"""


def start(cp, make_service, dtypes):
    trial = make_service(cp)
    for dtype in dtypes:
        trial.answer(cp.ones(2, dtype))
        trial.answer(cp.ones(2, dtype))
    return make_service(cp)
