def mean_above(limit):
    """Return the four parts of a reduction to the mean of what is above a limit."""

    def map_one(x):
        return x if x > limit else 0

    def reduce_two(a, b):
        return (a + b) / 2

    def finish(a):
        return float(a)

    return map_one, reduce_two, 0, finish
