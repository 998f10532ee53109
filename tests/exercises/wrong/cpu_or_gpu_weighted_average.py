"""Takes a weighted average, for which CuPy asks the GPU whether the weights add up to zero.

Found: limit.
"""


def centre_of_mass(np, cp, mass):
    xp = cp.get_array_module(mass)
    return xp.average(xp.arange(mass.size, dtype=mass.dtype), weights=mass)
