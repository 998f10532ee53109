"""When a factorisation, a solution, a determinant or a product is right, without the routine that made it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, has_gpu, is_device_array
from gpuguide.machine.memory import device_space
from gpuguide.topics.how_to_time.study import QrCheck

# Rows of a product of random numbers that are worked out again, the first and the last among them.
CHECKED_ROWS = 16
LARGEST_WEIGHT = 1009
TF32_EPS = 2.0**-10


def where_it_is_fast(*arrays: Any) -> tuple[Any, ...]:
    """Return arrays of the host on the GPU if there is one, where a check is much faster."""
    if not has_gpu():
        return arrays
    return tuple(x if is_device_array(x) else device_space().put(x) for x in arrays)


class FactorsCheck(QrCheck):
    """Q has orthonormal columns, R is upper triangular, and Q R is the matrix, to within rounding.

    >>> check = FactorsCheck()
    >>> a = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> largest, tolerance = check.compare(np.concatenate(np.linalg.qr(a)), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Check the three properties."""
        if not output.size:
            return 0.0, 0.0
        return super().compare(*where_it_is_fast(output, prepared))


class SolutionCheck:
    """A x is b, to within the rounding of A, x and b.

    >>> check = SolutionCheck()
    >>> check.compare(np.array([2.0]), check.prepare((np.array([[3.0]]), np.array([6.0]))))[0]
    0.0
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return matrix and right side."""
        a, b = inputs
        return a, b

    def compare(self, output: Any, prepared: tuple[Any, Any]) -> tuple[float, float]:
        """Check the residual against its bound for elimination with pivoting."""
        if not output.size:
            return 0.0, 0.0
        x, a, b = where_it_is_fast(output, *prepared)
        xp = array_module(x)
        residual = float(xp.abs(a @ x - b).max())
        scale = float((xp.abs(a) @ xp.abs(x) + xp.abs(b)).max())
        return residual, 4 * b.size * float(np.finfo(a.dtype).eps) * scale


class DeterminantCheck:
    """Sign and logarithm are those of the product of the eigenvalues, which a Fourier transform gives.

    The matrix must be circulant, each column the one before, moved down by one.

    >>> check = DeterminantCheck()
    >>> a = np.array([[1.0, 3.0], [3.0, 1.0]])
    >>> largest, tolerance = check.compare(np.array([-1.0, np.log(8)]), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[float, float, float]:
        """Return sign, logarithm, and how far the logarithm may be off."""
        (a,) = inputs
        n = len(a)
        if not n:
            return 1.0, 0.0, 0.0  # a product of nothing
        column = a[:, 0].get() if is_device_array(a) else a[:, 0]
        values = np.fft.fft(column.astype(np.float64))
        sizes = np.abs(values)
        # The other eigenvalues come in pairs of conjugates, whose products are positive.
        real = [values[0].real, *([values[n // 2].real] if n % 2 == 0 else [])]
        rounding = 4 * n * float(np.finfo(a.dtype).eps) * float(np.abs(column).sum())
        return (
            float(np.prod(np.sign(real))),
            float(np.log(sizes).sum()),
            float((rounding / sizes).sum()),
        )

    def compare(self, output: Any, prepared: tuple[float, float, float]) -> tuple[float, float]:
        """Compare both numbers."""
        sign, logarithm = (output.get() if is_device_array(output) else output).tolist()
        expected, right, tolerance = prepared
        if sign != expected:
            raise MismatchError(
                f"The sign of the determinant is {sign:g}; expected {expected:g}."
            )
        return abs(logarithm - right), tolerance


class SingularValuesCheck:
    """U and V are orthonormal, the values fall and are not negative, and U S V is the matrix.

    >>> check = SingularValuesCheck()
    >>> a = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> u, s, vt = np.linalg.svd(a)
    >>> largest, tolerance = check.compare(np.concatenate([u, s[None], vt]), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the matrix."""
        return inputs[0]

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Check the four properties."""
        if not prepared.size:
            return 0.0, 0.0
        output, a = where_it_is_fast(output, prepared)
        xp, n = array_module(output), a.shape[0]
        u, s, vt = output[:n], output[n], output[n + 1 :]
        if not bool((s >= 0).all()) or not bool((s[1:] <= s[:-1]).all()):
            raise MismatchError("The singular values are not in falling order from 0 up.")
        one = xp.eye(n, dtype=a.dtype)
        largest = float(s[0]) or 1.0
        differences = {
            "U is not orthonormal": xp.abs(u.T @ u - one),
            "V is not orthonormal": xp.abs(vt @ vt.T - one),
            "U S V is not the matrix": xp.abs((u * s) @ vt - a) / largest,
        }
        tolerance = 8.0 * n * float(np.finfo(a.dtype).eps)
        found = {problem: float(values.max()) for problem, values in differences.items()}
        for problem, difference in found.items():
            if not difference <= tolerance:
                raise MismatchError(
                    f"{problem}: off by {difference:.3g}, tolerance {tolerance:.3g}."
                )
        return max(found.values()), tolerance


class ProductCheck:
    """Whole numbers: exactly the product. Random ones: sixteen rows are, to within rounding.

    A product of whole numbers is multiplied by random whole numbers, a vector of weights, and compared with
    what two products of a matrix and a vector give. One wrong element changes it. All of it is exact.

    Parameters
    ----------
    eps : float, optional
        What the factors are rounded to; by default that of their dtype.

    Examples
    --------
    >>> check = ProductCheck()
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> check.compare(a @ a, check.prepare((a, a)))
    (0.0, 0.0)
    """

    def __init__(self, eps: float | None = None) -> None:
        self.eps = eps

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the factors."""
        a, b = inputs
        return a, b

    def compare(self, output: Any, prepared: tuple[Any, Any]) -> tuple[float, float]:
        """Compare all elements of a product of whole numbers, or some rows of another one."""
        if not output.size:
            return 0.0, 0.0
        c, a, b = where_it_is_fast(output, *prepared)
        xp, n = array_module(c), len(c)
        eps = self.eps or float(np.finfo(a.dtype).eps)
        if bool((a[0] == xp.rint(a[0])).all()):
            weights = xp.arange(1, n + 1) * 7919 % LARGEST_WEIGHT + 1.0
            off = xp.abs(_wide(c) @ weights - _wide(a) @ (_wide(b) @ weights))
            return float(off.max()), 0.0
        rows = np.unique(np.linspace(0, n - 1, CHECKED_ROWS).astype(int)).tolist()
        b_wide, b_sizes = _wide(b), xp.abs(_wide(b))
        largest = allowed = 0.0
        # Row by row, which is another routine than the product of two matrices.
        for row in rows:
            one = _wide(a[row])
            off = float(xp.abs(c[row] - one @ b_wide).max())
            bound = 4 * n**0.5 * eps * float((xp.abs(one) @ b_sizes).max())
            if not off <= bound:
                raise MismatchError(f"Row {row} is off by {off:.3g}, tolerance {bound:.3g}.")
            largest, allowed = max(largest, off), max(allowed, bound)
        return largest, allowed


def _wide(x: Any) -> Any:
    return x.astype(np.float64)
