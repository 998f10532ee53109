def squares(cp, a):
    """Square the elements of an array, where it lies."""
    xp = ...  # the module that a belongs to
    return ...  # its square of a
