"""Lets the fused kernel read an input again in each step that needs it.

Found: wrong.
"""


def arrays_moved(steps, wanted):
    one_by_one = sum(len(set(operands)) + 1 for _, operands in steps)
    made = {result for result, _ in steps}
    fused = sum(len(set(operands) - made) for _, operands in steps) + len(wanted)
    return one_by_one, fused
