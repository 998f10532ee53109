"""Goes on long after nothing is left to correct.

Found: limit.
"""


def refine(solve, a, b):
    narrow = a.astype("float32")
    x = b * 0
    for _ in range(50):
        x = x + solve(narrow, (b - a @ x).astype("float32"))
    return x
