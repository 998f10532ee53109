"""Solves three times, whatever the matrix.

Found: wrong.
"""


def refine(solve, a, b):
    a32 = a.astype("float32")
    x = solve(a32, b.astype("float32")).astype("float64")
    for _ in range(2):
        x = x + solve(a32, (b - a @ x).astype("float32"))
    return x
