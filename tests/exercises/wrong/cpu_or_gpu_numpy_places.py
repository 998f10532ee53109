"""Lets NumPy make the places, which do not mix with weights on the GPU.

Found: exception.
"""


def centre_of_mass(np, cp, mass):
    places = np.arange(mass.size, dtype=mass.dtype)
    return (places * mass).sum() / mass.sum()
