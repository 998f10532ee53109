"""Stops when the residual is small next to the numbers of the matrix.

Found: wrong.
"""


def refine(solve, a, b):
    a32 = a.astype("float32")
    x = solve(a32, b.astype("float32")).astype("float64")
    for _ in range(9):
        r = b - a @ x
        if abs(r).max() <= 1e-15 * abs(a).max():
            break
        x += solve(a32, r.astype("float32"))
    return x
