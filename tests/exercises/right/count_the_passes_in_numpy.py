"""Counts in NumPy's integers."""

import numpy as np


def arrays_moved(steps, wanted):
    one_by_one = np.sum([len(set(operands)) + 1 for _, operands in steps], dtype=np.int64)
    made = {result for result, _ in steps}
    read = {name for _, operands in steps for name in operands} - made
    return one_by_one, np.int64(len(read) + len(set(wanted)))
