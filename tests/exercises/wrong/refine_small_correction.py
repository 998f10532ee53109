"""Stops at a small correction, without a look at how large the solution is.

Found: wrong.
"""


def refine(solve, a, b):
    a32 = a.astype("float32")
    x = solve(a32, b.astype("float32")).astype("float64")
    for _ in range(9):
        d = solve(a32, (b - a @ x).astype("float32")).astype("float64")
        x += d
        if abs(d).max() < 1e-8:
            break
    return x
