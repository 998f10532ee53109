"""Lines the factors up with the columns.

Found: exception, wrong.
"""


def scale_rows(cp, x, factors):
    return x * factors
