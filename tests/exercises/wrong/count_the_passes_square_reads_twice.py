"""Counts an operand twice where a number is squared.

Found: wrong.
"""


def arrays_moved(steps, wanted):
    one_by_one = sum(len(operands) + 1 for _, operands in steps)
    made = {result for result, _ in steps}
    read = {name for _, operands in steps for name in operands}
    return one_by_one, len(read - made) + len(wanted)
