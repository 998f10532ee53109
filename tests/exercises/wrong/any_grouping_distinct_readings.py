"""Lets a set stand for readings, which holds each but once.

Found: wrong.
"""


def mean_above(limit):
    def map_one(x):
        return {x} if x > limit else set()

    def reduce_two(a, b):
        return a | b

    def finish(a):
        return sum(a) / len(a) if a else limit

    return map_one, reduce_two, set(), finish
