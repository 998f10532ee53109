"""Numbers the places in half precision, which has every whole number up to 2048 only.

Found: wrong.
"""


def centre_of_mass(np, cp, mass):
    xp = cp.get_array_module(mass)
    return (xp.arange(mass.size).astype(xp.float16) * mass).sum() / mass.sum()
