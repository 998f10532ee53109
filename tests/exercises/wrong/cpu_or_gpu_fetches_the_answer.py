"""Fetches the answer, which should have stayed where the weights are.

Found: limit.
"""


def centre_of_mass(np, cp, mass):
    xp = cp.get_array_module(mass)
    places = xp.arange(mass.size, dtype=mass.dtype)
    return cp.asnumpy((places * mass).sum() / mass.sum())[()]
