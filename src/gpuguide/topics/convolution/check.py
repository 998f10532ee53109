"""What a convolution is compared with: shifted images added up in double precision, one axis at a time."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import in_threads

# Whole numbers are off by less, or a product was lost. Transforms do not give whole numbers.
WHOLE = 0.25
_ROWS = 32  # of the result, made at a time: with them the sums stay in the CPU's cache


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

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, tuple[int, ...], float]:
        """Work out the full result, and how far a result may be off."""
        image, weights, column, row = (x.get() if is_device_array(x) else x for x in inputs)
        full = convolved(image, column, row)
        whole = all(bool((x == np.rint(x)).all()) for x in (image, weights))
        if whole or not image.size:
            return full, image.shape, WHOLE
        # Numbers that are not negative: the largest result is the largest sum of magnitudes.
        largest = float(convolved(abs(image), abs(column), abs(row)).max())
        eps = float(np.finfo(image.dtype).eps)
        return full, image.shape, 4 * eps * (max(weights.shape) + log2(image.size)) * largest

    def compare(
        self, output: Any, prepared: tuple[np.ndarray, tuple[int, ...], float]
    ) -> tuple[float, float]:
        """Compare a result of either size."""
        full, shape, tolerance = prepared
        got = output.get() if is_device_array(output) else np.asarray(output)
        expected = full if got.shape == full.shape else same(full, shape)
        if got.shape != expected.shape:
            raise MismatchError(
                f"The result should have shape {full.shape} or {shape}; it has {got.shape}."
            )
        if not got.size:
            return 0.0, tolerance
        off = np.abs(got - expected)
        largest = float(off.max())
        if not largest <= tolerance:
            at = np.unravel_index(
                int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape
            )
            place = tuple(int(i) for i in at)
            raise MismatchError(
                f"At {place} the result should be {float(expected[place])!r}; it is {float(got[place])!r}, "
                f"and may be off by {tolerance:.3g}."
            )
        return largest, tolerance


def convolved(image: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Convolve in double precision with the outer product of two vectors; the full result.

    >>> convolved(np.eye(2), np.array([1, 2]), np.array([1, 10])).tolist()
    [[1.0, 10.0, 0.0], [2.0, 21.0, 10.0], [0.0, 2.0, 20.0]]
    """
    k, m = column.size, row.size
    padded = np.pad(image.astype(np.float64), ((k - 1, k - 1), (m - 1, m - 1)))
    full = np.zeros((image.shape[0] + k - 1, image.shape[1] + m - 1))

    def one(start: int) -> None:
        made = full[start : start + _ROWS]
        tall = np.zeros((len(made), padded.shape[1]))
        for i, weight in enumerate(column[::-1]):
            tall += float(weight) * padded[start + i : start + i + len(made)]
        for j, weight in enumerate(row[::-1]):
            made += float(weight) * tall[:, j : j + full.shape[1]]

    if image.size:
        in_threads(one, range(0, len(full), _ROWS), full.nbytes)
    return full


def same(full: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Cut from the middle of a full result what has the size of the image."""
    starts = [(whole - part) // 2 for whole, part in zip(full.shape, shape, strict=True)]
    return full[
        tuple(slice(start, start + part) for start, part in zip(starts, shape, strict=True))
    ]
