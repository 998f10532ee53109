def scale_rows(cp, x, factors):
    """Multiply each row of a table by its own factor."""
    return x * factors[:, cp.newaxis]
