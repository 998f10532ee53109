"""Fuses a function of its own, and turns the factors into a column by a view whose rows repeat."""


def scale_rows(cp, x, factors):
    @cp.fuse()
    def scaled(a, b):
        return a * b

    return scaled(x, cp.lib.stride_tricks.as_strided(factors, x.shape, (factors.itemsize, 0)))
