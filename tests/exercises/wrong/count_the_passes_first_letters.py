"""Takes names that begin alike for one.

Found: wrong.
"""


def arrays_moved(steps, wanted):
    made = {result[0] for result, _ in steps}
    read = {name[0] for _, operands in steps for name in operands}
    return sum(1 + len(set(operands)) for _, operands in steps), len(read - made) + len(wanted)
