def mean_above(limit):
    """Return the four parts of a reduction to the mean of what is above a limit."""

    def map_one(x):
        return (x, 1) if x > limit else (0, 0)

    def reduce_two(a, b):
        return a[0] + b[0], a[1] + b[1]

    def finish(a):
        return a[0] / a[1] if a[1] else limit  # one division, when all is added up

    return map_one, reduce_two, (0, 0), finish
