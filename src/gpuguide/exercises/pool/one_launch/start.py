def scale_rows(cp, x, factors):
    """Multiply each row of a table by its own factor."""
    out = cp.empty_like(x)
    for row in range(x.shape[0]):
        out[row] = x[row] * factors[row]  # two launches, over and over
    return out
