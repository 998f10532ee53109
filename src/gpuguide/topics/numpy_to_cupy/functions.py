"""Written for NumPy; given arrays of CuPy's, the same functions run on the GPU."""

import numpy as np


def standardise(table):
    """Give each column the mean zero and the standard deviation one.

    >>> standardise(np.array([[1.0, 10.0], [3.0, 30.0]])).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    return (table - np.mean(table, axis=0)) / np.std(table, axis=0)


def standardise_by_products(table):
    """Do the same, with sums over rows as products with a vector of ones.

    >>> standardise_by_products(np.array([[1.0, 10.0], [3.0, 30.0]])).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    ones = np.ones_like(table, shape=len(table))  # on the GPU if the table is
    rest = table - ones @ table / len(table)
    return rest / np.sqrt(ones @ (rest * rest) / len(table))


def row_by_row(table):
    """Give each row of a table the length one, in a loop over the rows.

    >>> row_by_row(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    out = np.empty_like(table)
    for i in range(len(table)):
        out[i] = table[i] / np.linalg.norm(table[i])
    return out


def at_once(table):
    """Give each row of a table the length one, in one call for all rows.

    >>> at_once(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    return table / np.linalg.norm(table, axis=1, keepdims=True)
