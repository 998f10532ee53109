"""When a factorisation, a solution, a determinant or a product is right, without the routine that made it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, cupy, has_gpu, is_device_array, raw_kernel
from gpuguide.machine.launch import blocks_1d
from gpuguide.machine.memory import device_space

# Rows of a product of random numbers that are worked out again, the first and the last among them.
CHECKED_ROWS = 16
LARGEST_WEIGHT = 1009
TF32_EPS = 2.0**-10
_THREADS, _MAX_BLOCKS = 256, 1024

# CuPy's own reductions would be compiled first, which takes seconds. The bits of numbers that are not
# negative rise with the numbers, and those of NaN lie above all of them.
SOURCE = r"""
extern "C" __global__ void largest_off(
        const double* x, const double* y, long long n, long long columns, int from,
        unsigned long long* found) {
    unsigned long long largest = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        const long long row = i / columns, column = i % columns;
        double off = x[i];
        if (from == 1) off -= y[i];
        if (from == 2 && row == column) off -= 1.0;
        if (from == 3 && row <= column) off = 0.0;
        const unsigned long long bits = __double_as_longlong(fabs(off));
        if (bits > largest) largest = bits;
    }
    atomicMax(found, largest);
}
"""
ZEROS, ARRAY, IDENTITY, UPPER = range(4)
_kernel = raw_kernel(SOURCE, "largest_off")


def largest_off(x: Any, y: Any = None, *, of: int = ZEROS) -> float:
    """Return by how much x is off, at its worst; NaN if it holds one.

    Examples
    --------
    >>> largest_off(np.array([1.0, -3.0])), largest_off(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    (3.0, 0.5)
    >>> x = np.array([[1.0, 0.25], [0.125, 1.0]])
    >>> largest_off(x, of=IDENTITY), largest_off(x, of=UPPER)
    (0.25, 0.125)
    """
    what = of if y is None else ARRAY
    if not is_device_array(x):
        others = {
            ZEROS: lambda: 0.0,
            ARRAY: lambda: y,
            IDENTITY: lambda: np.eye(len(x)),
            UPPER: lambda: np.triu(x),
        }
        return float(np.abs(x.astype(np.float64) - others[what]()).max())
    cp = cupy()
    wide = cp.ascontiguousarray(x, dtype=np.float64)
    # Not read unless it is compared with; CuPy takes no None for a pointer.
    other = wide if y is None else cp.ascontiguousarray(y, dtype=np.float64)
    found = cp.zeros(1, dtype=np.uint64)
    blocks = min(blocks_1d(x.size, _THREADS), _MAX_BLOCKS)
    numbers = np.int64(x.size), np.int64(x.shape[-1]), np.int32(what)
    _kernel((blocks,), (_THREADS,), (wide, other, *numbers, found))
    return float(found.get().view(np.float64)[0])


def where_it_is_fast(*arrays: Any) -> tuple[Any, ...]:
    """Return arrays of the host on the GPU if there is one, where a check is much faster."""
    if not has_gpu():
        return arrays
    return tuple(x if is_device_array(x) else device_space().put(x) for x in arrays)


class FactorsCheck:
    """Q has orthonormal columns, R is upper triangular, and Q R is the matrix, to within rounding.

    >>> check = FactorsCheck()
    >>> a = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> largest, tolerance = check.compare(np.concatenate(np.linalg.qr(a)), check.prepare((a,)))
    >>> largest <= tolerance
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Return the matrix."""
        return inputs[0]

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Check the three properties."""
        if not output.size:
            return 0.0, 0.0
        output, a = where_it_is_fast(output, prepared)
        m = len(a)
        q, r = _wide(output[:m]), _wide(output[m:])
        scale = largest_off(a) or 1.0  # a matrix of zeros has nothing to divide by
        differences = {
            "Q has no orthonormal columns": largest_off(q.T @ q, of=IDENTITY),
            "R is not upper triangular": largest_off(r, of=UPPER) / scale,
            "Q R is not the matrix": largest_off(q @ r, a) / scale,
        }
        tolerance = 4.0 * m * float(np.finfo(prepared.dtype).eps)
        return _within(differences, tolerance), tolerance


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
        scale = largest_off(a) * largest_off(x) * b.size**0.5 + largest_off(b)
        return largest_off(a @ x, b), 4 * b.size * float(np.finfo(a.dtype).eps) * scale


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
        n = len(a)
        u, s, vt = output[:n], output[n], output[n + 1 :]
        values = s.get() if is_device_array(s) else s
        if not (values >= 0).all() or not (values[1:] <= values[:-1]).all():
            raise MismatchError("The singular values are not in falling order from 0 up.")
        differences = {
            "U is not orthonormal": largest_off(u.T @ u, of=IDENTITY),
            "V is not orthonormal": largest_off(vt @ vt.T, of=IDENTITY),
            "U S V is not the matrix": largest_off((u * s) @ vt, a) / (float(values[0]) or 1.0),
        }
        tolerance = 8.0 * n * float(np.finfo(a.dtype).eps)
        return _within(differences, tolerance), tolerance


class ProductCheck:
    """Whole numbers: exactly the product. Random ones: sixteen rows are, to within rounding.

    A product of whole numbers is multiplied by random whole numbers, a vector of weights, and compared with
    what two products of a matrix and a vector give. One wrong element changes it. All of it is exact.

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
        first = a[0].get() if is_device_array(a) else a[0]
        if (first == np.rint(first)).all():
            weights = xp.asarray(np.arange(1, n + 1) * 7919 % LARGEST_WEIGHT + 1.0)
            return largest_off(_wide(c) @ weights, _wide(a) @ (_wide(b) @ weights)), 0.0
        eps = self.eps or float(np.finfo(a.dtype).eps)
        b_wide = _wide(b)
        b_sizes = xp.abs(b_wide)
        largest = allowed = 0.0
        # Row by row, which is another routine than the product of two matrices.
        for row in np.unique(np.linspace(0, n - 1, CHECKED_ROWS).astype(int)).tolist():
            one = _wide(a[row])
            off = largest_off(c[row], one @ b_wide)
            bound = 4 * n**0.5 * eps * largest_off(xp.abs(one) @ b_sizes)
            if not off <= bound:
                raise MismatchError(f"Row {row} is off by {off:.3g}, tolerance {bound:.3g}.")
            largest, allowed = max(largest, off), max(allowed, bound)
        return largest, allowed


def _within(differences: dict[str, float], tolerance: float) -> float:
    """Return the largest difference; raise for the first one beyond the tolerance, or for NaN."""
    for problem, difference in differences.items():
        if not difference <= tolerance:
            raise MismatchError(
                f"{problem}: off by {difference:.3g}, tolerance {tolerance:.3g}."
            )
    return max(differences.values())


def _wide(x: Any) -> Any:
    return x.astype(np.float64, copy=False)
