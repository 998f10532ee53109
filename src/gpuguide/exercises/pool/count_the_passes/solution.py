def arrays_moved(steps, wanted):
    """Return how many arrays move through memory, step by step and fused."""
    one_by_one = sum(len(set(operands)) + 1 for _, operands in steps)
    made = {result for result, _ in steps}
    read = {name for _, operands in steps for name in operands}
    return one_by_one, len(read - made) + len(set(wanted))
