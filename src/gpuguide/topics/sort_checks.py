"""What a sort and an argsort are held against: order, and the same elements as before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuguide.backends import array_module, cupy, has_gpu, is_device_array
from gpuguide.errors import MismatchError

CHUNK = 2**25
COMPARED_WITH_PYTHON = 2**12


class SortedCheck:
    """A sorted array has its elements in order, and they are the elements of the input.

    The second half is checked by a fingerprint that does not depend on order: each bit pattern is mixed into
    64 bits, and the results are added. Up to 4096 elements Python's own sort is compared as well. The work is
    done on the GPU where there is one, in pieces, so that it stays cheap for 1e9 elements.

    Examples
    --------
    >>> check = SortedCheck()
    >>> x = np.array([3, 1, 2], np.float32)
    >>> check.compare(np.array([1, 2, 3], np.float32), check.prepare((x,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[int, int, list[float] | None]:
        """Note size, fingerprint and (when small) Python's sorted list of the input.

        Parameters
        ----------
        inputs : tuple of one array, shape (n,)
            The unsorted numbers.

        Returns
        -------
        tuple
            Size, fingerprint, sorted list or None.
        """
        (x,) = inputs
        expected = sorted(x.tolist()) if x.size <= COMPARED_WITH_PYTHON else None
        return x.size, _fingerprint(x), expected

    def compare(
        self, output: Any, prepared: tuple[int, int, list[float] | None]
    ) -> tuple[float, float]:
        """Check order and fingerprint.

        Parameters
        ----------
        output : array, shape (n,)
            What should be sorted.
        prepared : tuple
            From `prepare`.

        Returns
        -------
        (float, float)
            Largest difference and tolerance, both 0: sorting is exact.

        Raises
        ------
        MismatchError
            An element is out of order, lost, doubled or changed.
        """
        size, fingerprint, expected = prepared
        if output.shape != (size,):
            raise MismatchError(
                f"The sorted array should have {size} elements; its shape is {output.shape}."
            )
        if not _in_order(output):
            raise MismatchError(f"The output ({size} elements) is not in order.")
        if _fingerprint(output) != fingerprint:
            raise MismatchError(
                f"The output is in order, but its {size} elements are not those of the input."
            )
        if expected is not None and output.tolist() != expected:
            raise MismatchError(
                f"The output differs from Python's sorted list of the {size} elements."
            )
        return 0.0, 0.0


class ArgsortCheck:
    """An argsort names every index once, and the elements in that order are sorted.

    Examples
    --------
    >>> check = ArgsortCheck()
    >>> check.compare(np.array([1, 2, 0]), check.prepare((np.array([3, 1, 2], np.float32),)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> np.ndarray:
        """Keep a copy of the numbers.

        Parameters
        ----------
        inputs : tuple of one array, shape (n,)
            The unsorted numbers.

        Returns
        -------
        ndarray, shape (n,)
            The same numbers in host memory.
        """
        (x,) = inputs
        return np.array(x.get() if hasattr(x, "get") else x)

    def compare(self, output: Any, prepared: np.ndarray) -> tuple[float, float]:
        """Check that `output` is a permutation that sorts.

        Parameters
        ----------
        output : array of int64, shape (n,)
            Indices.
        prepared : ndarray, shape (n,)
            From `prepare`.

        Returns
        -------
        (float, float)
            Largest difference and tolerance, both 0.

        Raises
        ------
        MismatchError
            An index is out of range or missing, or the order is wrong.
        """
        xp = array_module(output)
        n = prepared.size
        if output.shape != (n,) or (n and (int(output.min()) < 0 or int(output.max()) >= n)):
            raise MismatchError(f"The order should hold {n} indices from 0 to {n - 1}.")
        seen = xp.zeros(n, bool)
        seen[output] = True
        if not bool(seen.all()):
            raise MismatchError(
                f"The order names an index twice, so that one of the {n} is missing."
            )
        if not _in_order(xp.asarray(prepared)[output]):
            raise MismatchError("The elements in the order given are not sorted.")
        return 0.0, 0.0


def _pieces(x: Any, overlap: int = 0) -> Iterator[Any]:
    """Yield pieces of a vector, on the GPU where there is one."""
    for start in range(0, x.size, CHUNK):
        piece = x[start : start + CHUNK + overlap]
        yield cupy().asarray(piece) if has_gpu() and not is_device_array(piece) else piece


def _in_order(x: Any) -> bool:
    # Written so that a NaN, which compares false with everything, is out of order.
    return all(bool((piece[1:] >= piece[:-1]).all()) for piece in _pieces(x, overlap=1))


def _fingerprint(x: Any) -> int:
    """Add up the mixed bit patterns of all elements, modulo 2**64."""
    total = 0
    for piece in _pieces(x):
        bits = piece.view(np.dtype(f"u{piece.dtype.itemsize}")).astype(np.uint64)
        mixed = (bits + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        total += int(mixed.sum(dtype=np.uint64))
    return total % 2**64
