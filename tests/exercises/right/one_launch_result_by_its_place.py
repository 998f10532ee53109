"""Makes the result by its class, and hands it on by its place."""


def scale_rows(cp, x, factors):
    out = cp.ndarray(x.shape, x.dtype)
    cp.multiply(x, factors[(slice(None), None)], out)
    return out
