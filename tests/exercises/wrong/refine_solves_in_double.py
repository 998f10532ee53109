"""Hands the solver what it does not take.

Found: exception.
"""


def refine(solve, a, b):
    return solve(a, b)
