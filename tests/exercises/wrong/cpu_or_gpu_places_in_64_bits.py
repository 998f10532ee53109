"""Leaves the dtype of the places to the module, so that the answer has 64 bits.

Found: wrong.
"""


def centre_of_mass(np, cp, mass):
    xp = cp.get_array_module(mass)
    return (xp.arange(mass.size) * mass).sum() / mass.sum()
