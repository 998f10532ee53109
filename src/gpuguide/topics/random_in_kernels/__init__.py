"""Kernels and studies of the page random_in_kernels."""

import warnings

with warnings.catch_warnings():
    # For the simulator, Numba writes this module in a way of which Numba warns.
    warnings.simplefilter("ignore")
    import numba.cuda.random  # noqa: F401
