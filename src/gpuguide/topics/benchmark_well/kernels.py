"""Kernels for square roots: improving a guess step by step, and asking the GPU at once."""

import math

from numba import cuda

CLOSE = 2.0**-50
"""A step of float64 is 2**-52 of the number at most: closer than four of them is close enough."""
MOST_STEPS = 100


@cuda.jit
def improve_kernel(guess, number):
    """Each thread improves its guess until a step changes nothing that counts."""
    i = cuda.grid(1)
    if i < guess.size:
        x, y = guess[i], number[i]
        for _ in range(MOST_STEPS):  # so that no number can keep a thread for ever
            better = 0.5 * (x + y / x)
            is_done = abs(better - x) <= CLOSE * better
            x = better
            if is_done:
                break
        guess[i] = x


@cuda.jit
def square_root_kernel(guess, number):
    """Each thread asks the GPU's own square root."""
    i = cuda.grid(1)
    if i < guess.size:
        guess[i] = math.sqrt(number[i])
