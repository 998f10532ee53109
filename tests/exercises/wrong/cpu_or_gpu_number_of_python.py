"""Makes a number of Python of the result, which is on the CPU then.

Found: wrong.
"""


def centre_of_mass(np, cp, mass):
    xp = cp.get_array_module(mass)
    places = xp.arange(mass.size, dtype=mass.dtype)
    return float((places * mass).sum() / mass.sum())
