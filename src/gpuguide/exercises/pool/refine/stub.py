def refine(solve, a, b):
    """Solve a x = b in double precision, by solutions in single precision."""
    return solve(a.astype("float32"), b.astype("float32")).astype("float64")
