"""Adds each correction to a solution that has no digits left for it.

Found: wrong.
"""


def refine(solve, a, b):
    narrow = a.astype("float32")
    x = solve(narrow, b.astype("float32"))
    for _ in range(6):
        x = x + solve(narrow, (b - a @ x.astype("float64")).astype("float32"))
    return x.astype("float64")
