"""When a product of matrices is right: all of it on whole numbers, some rows of it on random ones."""

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, is_device_array
from gpuguide.topics.linear_algebra.checks import largest_off, where_it_is_fast

ROWS = 16  # of a product of random numbers, the first and the last among them
LARGEST_WEIGHT = 1009


class ProductCheck:
    """Whole numbers: exactly the product. Random ones: sixteen rows are, to within rounding.

    Products of a matrix and a vector stand in for that of two matrices, which is what is checked. `eps` is
    the rounding of a factor or a sum, and `stored` that of the result.

    >>> check = ProductCheck()
    >>> a, b = np.array([[1.0, 2.0]], np.float32), np.array([[3.0], [4.0]], np.float32)
    >>> check.compare(a @ b, check.prepare((a, b)))
    (0.0, 0.0)
    """

    def __init__(self, eps=2.0**-23, stored=0.0, widen=None):
        self.eps, self.stored, self.widen = eps, stored, widen or in_double

    def prepare(self, inputs):
        """Return the factors."""
        return inputs

    def compare(self, output, prepared):
        """Compare all elements, or some rows."""
        a, b = (self.widen(x) for x in where_it_is_fast(*prepared))
        shape = a.shape[0], b.shape[1]
        if output.shape != shape:
            raise MismatchError(
                f"The product should have shape {shape}; it has shape {output.shape}."
            )
        if not output.size:
            return 0.0, 0.0
        (c,) = where_it_is_fast(output)
        c, xp = in_double(c), array_module(c)
        row = a[0].get() if is_device_array(a) else a[0]
        if (row == np.rint(row)).all():
            weights = xp.asarray(np.arange(1, shape[1] + 1) * 7919 % LARGEST_WEIGHT + 1.0)
            return largest_off(c @ weights, a @ (b @ weights)), 0.0
        sizes = xp.abs(b)
        largest = allowed = 0.0
        for i in np.unique(np.linspace(0, shape[0] - 1, ROWS).astype(int)).tolist():
            right = a[i] @ b
            off = xp.abs(c[i] - right)
            bound = 4 * self.eps * max(a.shape[1], 1) ** 0.5 * (xp.abs(a[i]) @ sizes)
            bound += self.stored * xp.abs(right)
            if not bool((off <= bound).all()):
                at = int((off - bound).argmax())
                raise MismatchError(
                    f"Element {i, at} is off by {float(off[at]):.3g}, and may be by {float(bound[at]):.3g}."
                )
            largest, allowed = max(largest, float(off.max())), max(allowed, float(bound.max()))
        return largest, allowed


def in_double(x):
    """Return an array in double precision."""
    return x.astype(np.float64, copy=False)


def of_bfloat16(bits):
    """Return numbers in double precision of which only the upper 16 bits in float32 are given."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
