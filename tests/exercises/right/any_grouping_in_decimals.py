"""Adds up decimal numbers."""

from decimal import Decimal


def mean_above(limit):
    def map_one(x):
        return (Decimal(x), 1) if x > limit else (Decimal(0), 0)

    def reduce_two(a, b):
        return a[0] + b[0], a[1] + b[1]

    return [map_one, reduce_two, (Decimal(0), 0), lambda a: a[0] / a[1] if a[1] else limit]
