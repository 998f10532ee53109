"""Takes for made what an earlier program made.

Found: wrong.
"""

MADE = set()


def arrays_moved(steps, wanted):
    read = set()
    for result, operands in steps:
        MADE.add(result)
        read.update(operands)
    return sum(1 + len(set(operands)) for _, operands in steps), len(read - MADE) + len(wanted)
