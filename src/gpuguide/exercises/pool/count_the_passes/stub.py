def arrays_moved(steps, wanted):
    """Return how many arrays move through memory, step by step and fused."""
    moved = sum(len(operands) + 1 for _, operands in steps)
    return moved, moved
