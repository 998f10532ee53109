"""Makes a column by setting the shape of a view."""


def scale_rows(cp, x, factors):
    column = factors.view()
    column.shape = (factors.size, 1)
    return x.__mul__(column)
