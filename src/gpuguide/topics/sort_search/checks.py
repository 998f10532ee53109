"""What results are compared with: sorted numbers, the order that sorts them, and the places of a search."""

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, has_gpu, is_device_array
from gpuguide.machine.memory import device_space

CHUNK = 2**24
COMPARED_WITH_PYTHON = 2**12
# Multipliers of the random generator SplitMix64.
ROW, FIRST, SECOND = map(
    np.uint64, (0xD1B54A32D192ED03, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
)


class SortedCheck:
    """Every row has its elements in order, and they are the elements that it had before.

    The second half is checked by a fingerprint that does not depend on the order: each bit pattern is mixed
    with its row's number into 64 bits, and the results are added. Up to 4096 elements Python's own sort is
    compared as well. A vector is one row.
    """

    def prepare(self, inputs):
        """Note shape, fingerprint and (when small) Python's sorted lists of the input."""
        (x,) = inputs
        expected = None
        if x.size <= COMPARED_WITH_PYTHON:
            expected = (
                sorted(x.tolist()) if x.ndim == 1 else [sorted(row) for row in x.tolist()]
            )
        return x.shape, order_and_fingerprint(x)[1], expected

    def compare(self, output, prepared):
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
    """An argsort names every index once, and the elements in that order are sorted."""

    def prepare(self, inputs):
        """Keep a copy of the numbers."""
        return to_host(inputs[0]).copy()

    def compare(self, output, prepared):
        """Check that `output` is a permutation that sorts."""
        order, n = to_host(output), prepared.size
        if order.shape != (n,) or (n and (int(order.min()) < 0 or int(order.max()) >= n)):
            raise MismatchError(f"The order should hold {n} indices from 0 to {n - 1}.")
        if np.bincount(order, minlength=n).max(initial=0) > 1:
            raise MismatchError(
                f"The order names an index twice, so that one of the {n} is missing."
            )
        if not order_and_fingerprint(prepared[order])[0]:
            raise MismatchError("The elements in the order given are not sorted.")
        return 0.0, 0.0


class SearchCheck:
    """At each place found, the keys before are smaller than the number, and those from there on are not."""

    def prepare(self, inputs):
        """Put an end to the keys that is larger than any number, and one that is smaller."""
        queries, keys = map(to_host, inputs)
        return queries.copy(), np.concatenate([[-np.inf], keys, [np.inf]]).astype(keys.dtype)

    def compare(self, output, prepared):
        """Look at the two keys beside each place."""
        queries, keys = prepared
        places, n_keys = to_host(output), keys.size - 2
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


def to_host(x):
    return x.get() if is_device_array(x) else np.asarray(x)


def order_and_fingerprint(x):
    """Say whether each row is in order, and add up its mixed bit patterns, modulo 2**64.

    >>> order_and_fingerprint(np.array([[1, 2], [1, 0]], np.float32))[0]
    False
    """
    flat, row_length = x.reshape(-1), np.uint64(max(1, x.shape[-1]))
    in_order, fingerprint = True, 0
    # In pieces, on the GPU where there is one, so that it stays cheap for 1e8 elements.
    for start in range(0, flat.size, CHUNK):
        # With the first element after the piece, so that the pair across its end is seen.
        piece = flat[start : start + CHUNK + 1]
        if has_gpu() and not is_device_array(piece):
            piece = device_space().put(piece)
        place = array_module(piece).arange(start, start + piece.size, dtype=np.uint64)
        # Written so that a NaN, which compares false with everything, is out of order.
        rises = (piece[1:] >= piece[:-1]) | (place[1:] % row_length == 0)
        in_order = in_order and bool(rises.all())
        # One is added, or zeros would not count.
        mixed = piece.view(np.dtype(f"u{piece.itemsize}")).astype(np.uint64) + np.uint64(1)
        mixed = (mixed + place // row_length * ROW)[:CHUNK] * FIRST
        mixed ^= mixed >> np.uint64(31)
        mixed *= SECOND
        mixed ^= mixed >> np.uint64(29)
        fingerprint += int(mixed.sum(dtype=np.uint64))
    return in_order, fingerprint % 2**64
