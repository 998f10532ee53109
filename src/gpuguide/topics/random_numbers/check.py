"""What must hold for uniform random numbers: their range, their distribution, and that none comes again."""

from math import sqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, is_device_array
from gpuguide.machine.cpu import in_threads

BINS = 256
# A right generator is further off once in a thousand million checks; so no recording fails by chance.
SIGMAS = 6.0
CHUNK = 2**20


class UniformCheck:
    """All numbers lie from 0 to below 1, spread evenly, rise as often as they fall, and do not come again."""

    def prepare(self, inputs):
        """Keep how many numbers there must be."""
        return int(inputs[0])

    def compare(self, output, prepared):
        """Return the largest distance from what is expected, in standard deviations."""
        if output.shape != (prepared,):
            raise MismatchError(
                f"There should be {prepared} numbers; the shape is {output.shape}."
            )
        outside, rising, again, counts = look_at(output)
        if outside:
            raise MismatchError(f"{outside} numbers do not lie from 0 to below 1.")
        # Single precision has 2**24 numbers or more from 0 to 1, so that a few do come again.
        expected = prepared / 2 / (2**24 if output.dtype == np.float32 else 2**52)
        most = expected + SIGMAS * sqrt(expected) + 3
        if prepared > 1 and again > most:
            raise MismatchError(
                f"{again} numbers come again half an array further on; {most:.0f} may do so by chance."
            )
        return max([0.0, *distances(counts, rising, prepared)]), SIGMAS


def distances(counts, rising, n):
    """Return how far the counts are off, in standard deviations of what chance does."""
    if n < 20 * BINS:  # too few to fill the bins
        return []
    chi_squared = float(((counts - n / BINS) ** 2).sum() / (n / BINS))
    # Wilson and Hilferty: the cube root of chi squared is nearly normal.
    spread = 2 / (9 * (BINS - 1))
    cube_root = ((chi_squared / (BINS - 1)) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return [abs(cube_root), abs(rising - (n - 1) / 2) / sqrt((n + 1) / 12)]


def look_at(x):
    """Count numbers outside of [0, 1), above the one before, equal to that half an array on, in each bin.

    Equal ones are those of two generators with one seed.

    >>> outside, rising, again, counts = look_at(np.array([0.0, 0.5, 0.25, 0.5]))
    >>> outside, rising, again, counts[[0, 64, 128]].tolist()
    (0, 2, 1, [1, 1, 2])
    """
    xp, half = array_module(x), x.size // 2

    def count(start):
        stop = start + CHUNK
        part, pairs = x[start:stop], x[max(0, start - 1) : stop]
        end = min(stop, half)
        # A NaN is outside as well.
        outside = part.size - int(xp.count_nonzero((part >= 0) & (part < 1)))
        rising = int(xp.count_nonzero(pairs[1:] > pairs[:-1]))
        again = int(xp.count_nonzero(x[start:end] == x[start + half : end + half]))
        counts = np.zeros(BINS, np.int64)
        if not outside:
            bins = xp.bincount((part * BINS).astype(np.int64), minlength=BINS)
            counts = bins.get() if is_device_array(bins) else bins
        return np.array([outside, rising, again, *counts])

    # Threads would not share the GPU's stream.
    n_bytes = 0 if is_device_array(x) else x.nbytes
    counted = in_threads(count, range(0, x.size, CHUNK), n_bytes)
    outside, rising, again, *counts = sum(counted, np.zeros(BINS + 3, np.int64))
    return int(outside), int(rising), int(again), np.array(counts)
