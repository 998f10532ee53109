"""What results are compared with: sorted numbers, the order that sorts them, and the places of a search."""

from __future__ import annotations

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
        const float* x, long long n, long long n_pairs, long long first, long long row_length,
        unsigned long long* found) {
    unsigned long long wrong = 0, sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        unsigned long long row = (first + i) / row_length;
        unsigned long long mixed = __float_as_uint(x[i]) + 1ULL + row * 0xD1B54A32D192ED03ULL;
        mixed *= 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 31;
        mixed *= 0xBF58476D1CE4E5B9ULL;
        mixed ^= mixed >> 29;
        sum += mixed;
        bool in_row = i < n_pairs && (first + i + 1) % row_length;
        if (in_row && !(x[i + 1] >= x[i])) ++wrong;  // a NaN is never in order
    }
    atomicAdd(&found[0], wrong);
    atomicAdd(&found[1], sum);
}
"""
_kernel = raw_kernel(SOURCE, "order_and_fingerprint")


class SortedCheck:
    """Every row has its elements in order, and they are the elements that it had before.

    The second half is checked by a fingerprint that does not depend on the order: each bit pattern is mixed
    with its row's number into 64 bits, and the results are added. Up to 4096 elements Python's own sort is
    compared as well. The work is done on the GPU where there is one, in pieces, so that it stays cheap for
    1e9 elements. A vector is one row.

    >>> check = SortedCheck()
    >>> x = np.array([[3, 1, 2], [9, 8, 7]], np.float32)
    >>> check.compare(np.array([[1, 2, 3], [7, 8, 9]], np.float32), check.prepare((x,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[tuple[int, ...], int, list[Any] | None]:
        """Note shape, fingerprint and (when small) Python's sorted lists of the input."""
        (x,) = inputs
        expected = None
        if x.size <= COMPARED_WITH_PYTHON:
            expected = (
                sorted(x.tolist()) if x.ndim == 1 else [sorted(row) for row in x.tolist()]
            )
        return x.shape, order_and_fingerprint(x)[1], expected

    def compare(
        self, output: Any, prepared: tuple[tuple[int, ...], int, list[Any] | None]
    ) -> tuple[float, float]:
        """Check order and fingerprint."""
        shape, fingerprint, expected = prepared
        if output.shape != shape:
            raise MismatchError(
                f"The sorted array should have shape {shape}; it has {output.shape}."
            )
        in_order, found = order_and_fingerprint(output)
        if not in_order:
            raise MismatchError(f"The output (shape {shape}) is not in order.")
        if found != fingerprint:
            raise MismatchError(
                f"The output (shape {shape}) is in order, but its elements are not those of the input."
            )
        if expected is not None and output.tolist() != expected:
            raise MismatchError(
                f"The output (shape {shape}) differs from what Python's sorted() makes of the input."
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
        if not order_and_fingerprint(prepared[order])[0]:
            raise MismatchError("The elements in the order given are not sorted.")
        return 0.0, 0.0


class SearchCheck:
    """At each place found, the keys before are smaller than the number, and those from there on are not.

    >>> check = SearchCheck()
    >>> queries, keys = np.array([3, 9], np.float32), np.array([2, 3, 3, 5], np.float32)
    >>> check.compare(np.array([1, 4]), check.prepare((queries, keys)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Put an end to the keys that is larger than any number, and one that is smaller."""
        queries, keys = (_to_host(x) for x in inputs)
        ends = np.array([-np.inf, np.inf], keys.dtype)
        return queries.copy(), np.concatenate([ends[:1], keys, ends[1:]])

    def compare(
        self, output: Any, prepared: tuple[np.ndarray, np.ndarray]
    ) -> tuple[float, float]:
        """Look at the two keys beside each place."""
        queries, keys = prepared
        places, n_keys = _to_host(output), keys.size - 2
        if places.shape != queries.shape:
            raise MismatchError(
                f"There should be {queries.size} places; the output's shape is {places.shape}."
            )
        inside = (places >= 0) & (places <= n_keys)
        at = np.where(inside, places, 0)
        wrong = np.flatnonzero(~inside | (keys[at] >= queries) | (keys[at + 1] < queries))
        if wrong.size:
            i = int(wrong[0])
            raise MismatchError(
                f"{wrong.size} of {queries.size} places are wrong, the first at {i}: "
                f"{float(queries[i])!r} does not belong at {int(places[i])}."
            )
        return 0.0, 0.0


def _to_host(x: Any) -> np.ndarray:
    return x.get() if is_device_array(x) else np.asarray(x)


def order_and_fingerprint(x: Any) -> tuple[bool, int]:
    """Say whether each row is in order, and add up its mixed bit patterns, modulo 2**64.

    >>> order_and_fingerprint(np.array([[1, 2], [1, 0]], np.float32))[0]
    False
    """
    row_length = max(1, x.shape[-1])
    flat = x.reshape(-1)
    found = []
    for start in range(0, flat.size, CHUNK):
        # With the first element after the piece, so that the pair across its end is seen.
        piece, n = flat[start : start + CHUNK + 1], min(CHUNK, flat.size - start)
        on_gpu = is_device_array(piece) or (has_gpu() and piece.dtype == np.float32)
        found.append((_on_gpu if on_gpu else _on_host)(piece, n, start, row_length))
    return all(in_order for in_order, _ in found), sum(mixed for _, mixed in found) % 2**64


def _on_host(piece: np.ndarray, n: int, start: int, row_length: int) -> tuple[bool, int]:
    place = np.arange(start, start + n, dtype=np.uint64)
    ends_a_row = (place[: piece.size - 1] + np.uint64(1)) % np.uint64(row_length) == 0
    # Written so that a NaN, which compares false with everything, is out of order.
    in_order = bool(((piece[1:] >= piece[:-1]) | ends_a_row).all())
    bits = piece[:n].view(np.dtype(f"u{piece.dtype.itemsize}")).astype(np.uint64)
    row = place // np.uint64(row_length)
    mixed = (bits + np.uint64(1) + row * np.uint64(0xD1B54A32D192ED03)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return in_order, int(mixed.sum(dtype=np.uint64))


def _on_gpu(piece: Any, n: int, start: int, row_length: int) -> tuple[bool, int]:
    """Do both in one pass; CuPy's own reductions would be compiled first, which takes seconds."""
    if piece.dtype != np.float32:
        raise ArgumentError(f"On the GPU the checks of a sort take float32; got {piece.dtype}.")
    x = piece if is_device_array(piece) else device_space().put(piece)
    found = cupy().zeros(2, dtype=np.uint64)
    blocks = min(blocks_1d(n, _THREADS), _MAX_BLOCKS)
    numbers = (np.int64(each) for each in (n, x.size - 1, start, row_length))
    _kernel((blocks,), (_THREADS,), (x, *numbers, found))
    n_wrong, fingerprint = found.get().tolist()
    return n_wrong == 0, fingerprint
