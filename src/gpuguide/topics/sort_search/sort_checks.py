"""What a sort and an argsort are held against: order, and the same elements as before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import cupy, has_gpu, is_device_array, raw_kernel
from gpuguide.machine.launch import blocks_1d
from gpuguide.machine.memory import device_space

CHUNK = 2**25
COMPARED_WITH_PYTHON = 2**12
_THREADS, _MAX_BLOCKS = 256, 1024

# Multipliers of the random generator SplitMix64. One is added, or zeros would not count.
SOURCE = r"""
extern "C" __global__ void order_and_fingerprint(
        const float* x, long long n, long long n_pairs, unsigned long long* found) {
    unsigned long long wrong = 0, sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        unsigned long long mixed = (__float_as_uint(x[i]) + 1ULL) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 31;
        mixed *= 0xBF58476D1CE4E5B9ULL;
        mixed ^= mixed >> 29;
        sum += mixed;
        if (i < n_pairs && !(x[i + 1] >= x[i])) ++wrong;  // a NaN is never in order
    }
    atomicAdd(&found[0], wrong);
    atomicAdd(&found[1], sum);
}
"""
_kernel = raw_kernel(SOURCE, "order_and_fingerprint")


class SortedCheck:
    """A sorted array has its elements in order, and they are the elements of the input.

    The second half is checked by a fingerprint that does not depend on order: each bit pattern is mixed into
    64 bits, and the results are added. Up to 4096 elements Python's own sort is compared as well. The work is
    done on the GPU where there is one, in pieces, so that it stays cheap for 1e9 elements.

    >>> check = SortedCheck()
    >>> x = np.array([3, 1, 2], np.float32)
    >>> check.compare(np.array([1, 2, 3], np.float32), check.prepare((x,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[int, int, list[float] | None]:
        """Note size, fingerprint and (when small) Python's sorted list of the input."""
        (x,) = inputs
        expected = sorted(x.tolist()) if x.size <= COMPARED_WITH_PYTHON else None
        return x.size, _fingerprint(x), expected

    def compare(
        self, output: Any, prepared: tuple[int, int, list[float] | None]
    ) -> tuple[float, float]:
        """Check order and fingerprint."""
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

    >>> check = ArgsortCheck()
    >>> check.compare(np.array([1, 2, 0]), check.prepare((np.array([3, 1, 2], np.float32),)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> np.ndarray:
        """Keep a copy of the numbers."""
        (x,) = inputs
        return _to_host(x).copy()

    def compare(self, output: Any, prepared: np.ndarray) -> tuple[float, float]:
        """Check that `output` is a permutation that sorts."""
        order, n = _to_host(output), prepared.size
        if order.shape != (n,) or (n and (int(order.min()) < 0 or int(order.max()) >= n)):
            raise MismatchError(f"The order should hold {n} indices from 0 to {n - 1}.")
        seen = np.zeros(n, bool)
        seen[order] = True
        if not bool(seen.all()):
            raise MismatchError(
                f"The order names an index twice, so that one of the {n} is missing."
            )
        if not _in_order(prepared[order]):
            raise MismatchError("The elements in the order given are not sorted.")
        return 0.0, 0.0


def _to_host(x: Any) -> np.ndarray:
    return x.get() if is_device_array(x) else np.asarray(x)


def _pieces(x: Any) -> Iterator[tuple[Any, int]]:
    """Yield pieces of a vector with the first element after each, and how long they are without it."""
    for start in range(0, x.size, CHUNK):
        yield x[start : start + CHUNK + 1], min(CHUNK, x.size - start)


def _in_order(x: Any) -> bool:
    return all(_order_and_fingerprint(piece, n)[0] for piece, n in _pieces(x))


def _fingerprint(x: Any) -> int:
    """Add up the mixed bit patterns of all elements, modulo 2**64."""
    return sum(_order_and_fingerprint(piece, n)[1] for piece, n in _pieces(x)) % 2**64


def _order_and_fingerprint(piece: Any, n: int) -> tuple[bool, int]:
    if is_device_array(piece) or (has_gpu() and piece.dtype == np.float32):
        return _on_gpu(piece, n)
    # Written so that a NaN, which compares false with everything, is out of order.
    in_order = bool((piece[1:] >= piece[:-1]).all())
    bits = piece[:n].view(np.dtype(f"u{piece.dtype.itemsize}")).astype(np.uint64)
    mixed = (bits + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return in_order, int(mixed.sum(dtype=np.uint64))


def _on_gpu(piece: Any, n: int) -> tuple[bool, int]:
    """Do both in one pass; CuPy's own reductions would be compiled first, which takes seconds."""
    if piece.dtype != np.float32:
        raise ArgumentError(f"On the GPU the checks of a sort take float32; got {piece.dtype}.")
    x = piece if is_device_array(piece) else device_space().put(piece)
    found = cupy().zeros(2, dtype=np.uint64)
    blocks = min(blocks_1d(n, _THREADS), _MAX_BLOCKS)
    _kernel((blocks,), (_THREADS,), (x, np.int64(n), np.int64(x.size - 1), found))
    n_wrong, fingerprint = found.get().tolist()
    return n_wrong == 0, fingerprint
