"""Names the axes, which leaves the order of the factors to CuPy."""


def scale_rows(cp, x, factors):
    return cp.einsum("ij,i->ij", x, factors)
