"""What is timed: the larger of two numbers, and square roots in two ways."""

import math

from numba import cuda

# A step of float64 is 2**-52 of the number at most: four of them are close enough.
CLOSE = 2.0**-50
MOST_STEPS = 100


@cuda.jit
def larger(a, b, out):
    """Each thread takes the larger of its pair."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


@cuda.jit
def newton(guess, number):
    """Each thread improves its guess until a step changes nothing that counts."""
    i = cuda.grid(1)
    if i < guess.size:
        x, y = guess[i], number[i]
        for _ in range(MOST_STEPS):
            better = 0.5 * (x + y / x)
            is_done = abs(better - x) <= CLOSE * better
            x = better
            if is_done:
                break
        guess[i] = x


@cuda.jit
def square_root(guess, number):
    """Each thread takes the square root that CUDA brings along."""
    i = cuda.grid(1)
    if i < guess.size:
        guess[i] = math.sqrt(number[i])
