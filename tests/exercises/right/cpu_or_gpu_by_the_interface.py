"""Tells arrays on the GPU by the interface that all libraries offer for them."""


def centre_of_mass(np, cp, mass):
    xp = cp if hasattr(mass, "__cuda_array_interface__") else np
    places = xp.arange(mass.size, dtype=mass.dtype)
    return (places * mass).sum() / mass.sum()
