"""The softmax of rows with functions on whole arrays: NumPy, CuPy, and CuPy's ways to fuse them."""

from functools import cache

from gpuguide.measure import cp


def whole_arrays(xp, x):
    """Call functions of NumPy or CuPy, one after the other."""
    powers = xp.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@cache
def fused_parts():
    """Return three functions, each of which CuPy makes one kernel of."""

    @cp.fuse
    def powers(x, largest):
        return cp.exp(x - largest)

    @cp.fuse
    def shares(powers, total):
        return powers / total

    return powers, shares


def fused(x):
    powers, shares = fused_parts()
    raised = powers(x, x.max(axis=1, keepdims=True))
    return shares(raised, raised.sum(axis=1, keepdims=True))


@cache
def own_parts():
    """Return a sum of powers, and the shares, in lines of CUDA C++."""
    total = cp.ReductionKernel(
        "T x, T largest", "T total", "exp(x - largest)", "a + b", "total = a", "0", "total"
    )
    shares = cp.ElementwiseKernel(
        "T x, T largest, T total", "T share", "share = exp(x - largest) / total", "shares"
    )
    return total, shares


def own_elementwise(x, out):
    total, shares = own_parts()
    largest = x.max(axis=1, keepdims=True)
    shares(x, largest, total(x, largest, axis=1, keepdims=True), out)
