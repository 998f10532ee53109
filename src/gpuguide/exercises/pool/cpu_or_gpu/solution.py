def centre_of_mass(np, cp, mass):
    """Return the place at which a rod with weights balances, on the side of the weights."""
    xp = cp.get_array_module(mass)
    places = xp.arange(mass.size, dtype=mass.dtype)
    return (places * mass).sum() / mass.sum()
