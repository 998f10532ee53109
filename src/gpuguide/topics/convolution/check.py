"""What a convolution is compared with: products of matrices in double precision, along each axis."""

from math import log2

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import in_threads

# Whole numbers are off by less, or a product was lost. Transforms do not give whole numbers.
WHOLE = 0.25
_ROWS = 64  # of the result, compared at a time
_BLOCK = 256  # rows or columns in one product of matrices


class ConvolutionCheck:
    """Whole numbers within 1/4; random ones within 4 eps (K + log2 n) of the largest sum of magnitudes.

    The result may be full or of the size of the image; the weights are an outer product. A transform
    rounds all pixels together, so the bound is that of the largest of them.

    >>> image, column = np.array([[0, 1, 0]], np.float32), np.array([1], np.float32)
    >>> row = np.array([1, 2, 3], np.float32)
    >>> check = ConvolutionCheck()
    >>> prepared = check.prepare((image, np.outer(column, row), column, row))
    >>> check.compare(np.array([[0, 1, 2, 3, 0]], np.float32), prepared)
    (0.0, 0.25)
    """

    def prepare(self, inputs):
        """Work out the full result, and how far a result may be off."""
        image, weights, column, row = (x.get() if is_device_array(x) else x for x in inputs)
        full = _full(image, column, row)
        whole = all(bool((x == np.rint(x)).all()) for x in (image, weights))
        if whole:
            return full, image.shape, WHOLE
        # Of numbers that are not negative, the largest result is the largest sum of magnitudes.
        signed = any(bool((x < 0).any()) for x in (image, column, row))
        largest = float(
            (convolved(abs(image), abs(column), abs(row)) if signed else full).max()
        )
        eps = float(np.finfo(image.dtype).eps)
        return full, image.shape, 4 * eps * (max(weights.shape) + log2(image.size)) * largest

    def compare(self, output, prepared):
        """Compare a result of either size."""
        full, shape, tolerance = prepared
        got = output.get() if is_device_array(output) else np.asarray(output)
        expected = full if got.shape == full.shape else same(full, shape)
        if got.shape != expected.shape:
            raise MismatchError(
                f"The result should have shape {full.shape} or {shape}; it has {got.shape}."
            )

        def one(start):
            rows = slice(start, start + _ROWS)
            return np.abs(got[rows] - expected[rows]).max(axis=1)

        largest_of = in_threads(one, range(0, len(got), _ROWS), got.nbytes)
        largest = float(np.concatenate(largest_of).max())  # a NaN stays one
        if not largest <= tolerance:
            off = np.abs(got - expected)
            at = np.unravel_index(
                int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape
            )
            place = tuple(int(i) for i in at)
            raise MismatchError(
                f"At {place} the result should be {float(expected[place])!r}; it is {float(got[place])!r}, "
                f"and may be off by {tolerance:.3g}."
            )
        return largest, tolerance


# The last result: the same inputs come once for the host, once for pinned memory and once for the GPU.
_last = {}


def _full(image, column, row):
    key = (image.shape, image.tobytes(), column.tobytes(), row.tobytes())
    if key not in _last:
        made = convolved(image, column, row)
        _last.clear()
        _last[key] = made
    return _last[key]


def convolved(image, column, row):
    """Convolve in double precision with the outer product of two vectors; the full result.

    >>> convolved(np.eye(2), np.array([1, 2]), np.array([1, 10])).tolist()
    [[1.0, 10.0, 0.0], [2.0, 21.0, 10.0], [0.0, 2.0, 20.0]]
    """
    height, width = image.shape
    wide = image.astype(np.float64)
    down = np.empty((height + column.size - 1, width))
    for rows, taken, matrix in _bands(column, height):
        np.matmul(matrix, wide[taken], out=down[rows])
    full = np.empty((len(down), width + row.size - 1))
    for columns, taken, matrix in _bands(row, width):
        np.matmul(down[:, taken], matrix.T, out=full[:, columns])
    return full


def _bands(vector, n):
    """Yield where each part of a full result lies, where its pixels do, and the matrix between them."""
    length = n + vector.size - 1
    for start in range(0, length, _BLOCK):
        stop = min(start + _BLOCK, length)
        taken = slice(max(start - vector.size + 1, 0), min(stop, n))
        at = np.arange(start, stop)[:, None] - np.arange(taken.start, taken.stop)
        inside = (at >= 0) & (at < vector.size)
        yield slice(start, stop), taken, np.where(inside, vector[at * inside], 0.0)


def same(full, shape):
    """Cut from the middle of a full result what has the size of the image."""
    starts = [(whole - part) // 2 for whole, part in zip(full.shape, shape, strict=True)]
    return full[
        tuple(slice(start, start + part) for start, part in zip(starts, shape, strict=True))
    ]


def right(image, weights, column, row):
    """Return a right answer, of the size of the image."""
    return same(convolved(image, column, row), image.shape).astype(image.dtype)
