"""Tells the identity by its value, which no readings have."""


def mean_above(limit):
    nothing = (limit, 1)

    def map_one(x):
        return (x, 1) if x > limit else nothing

    def reduce_two(a, b):
        if a == nothing:
            return b
        if b == nothing:
            return a
        return (a[0] + b[0], a[1] + b[1])

    return map_one, reduce_two, nothing, lambda a: a[0] / a[1]
