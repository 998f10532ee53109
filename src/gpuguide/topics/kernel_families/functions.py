"""Additions that are written in Python and compiled without Numba's @cuda.jit."""

import warnings
from functools import cache


@cache
def jit_addition():
    """Translate a kernel from Python to CUDA C++; CuPy warns that this is experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        from cupyx import jit

        @jit.rawkernel()
        def addition(a, b, out, n):
            i = jit.grid(1)
            if i < n:
                out[i] = a[i] + b[i]

    return addition


@cache
def numba_addition():
    """Make a ufunc with @vectorize, for one type."""
    from numba import vectorize

    @vectorize(["float32(float32, float32)"], target="cuda")
    def addition(a, b):
        return a + b

    return addition
