N_CORRECTIONS = 6  # each adds a few digits


def refine(solve, a, b):
    """Solve a x = b in double precision, by solutions in single precision."""
    narrow = a.astype("float32")
    x = solve(narrow, b.astype("float32")).astype("float64")
    for _ in range(N_CORRECTIONS):
        residual = b - a @ x  # in double precision: this is what has to be exact
        x = x + solve(narrow, residual.astype("float32"))
    return x
