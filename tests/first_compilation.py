"""Import this, and Numba has done what its first compilation takes, above all importing its own functions."""

from numba import njit

njit(lambda x: x + 1)(1)
