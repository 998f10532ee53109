"""Rounds the matrix of the caller to single precision.

Found: input_changed.
"""


def refine(solve, a, b):
    a[:] = a.astype("float32")
    a32 = a.astype("float32")
    x = solve(a32, b.astype("float32")).astype("float64")
    for _ in range(9):
        x = x + solve(a32, (b - a @ x).astype("float32"))
    return x
