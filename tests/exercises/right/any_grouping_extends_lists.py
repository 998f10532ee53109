"""Changes what it is given, which is a copy."""


def mean_above(limit):
    def reduce_two(a, b):
        a.extend(b)
        return a

    def finish(a):
        return sum(a) / len(a) if a else limit

    return lambda x: [x] if x > limit else [], reduce_two, [], finish
