"""Stops at a residual that is a hundred times too large next to b.

Found: wrong.
"""


def refine(solve, a, b):
    a32 = a.astype("float32")
    x = solve(a32, b.astype("float32")).astype("float64")
    for _ in range(9):
        r = b - a @ x
        if abs(r).max() < 1e-12 * abs(b).max():
            break
        x = x + solve(a32, r.astype("float32"))
    return x
