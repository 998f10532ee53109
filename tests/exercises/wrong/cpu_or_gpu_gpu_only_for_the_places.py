"""Makes the places on the GPU and fetches them where the weights are not.

Found: limit.
"""


def centre_of_mass(np, cp, mass):
    places = cp.arange(mass.size, dtype=mass.dtype)
    if isinstance(mass, np.ndarray):
        places = places.get()
    return (places * mass).sum() / mass.sum()
