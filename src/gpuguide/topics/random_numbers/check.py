"""What must hold for uniform random numbers: their range, their distribution, and that none comes again."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import cupy, is_device_array, raw_kernel
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d

BINS = 256
# A right generator is further off once in a thousand million checks; so no recording fails by chance.
_SIGMAS = 6.0
_CHUNK = 2**20
_THREADS, _MAX_BLOCKS = 256, 1024

# The counts of the bins; then numbers outside of [0, 1), those above their predecessor, and those that equal
# the number half an array further on, as those of two generators with one seed would.
SOURCE = r"""
template <typename T> __device__ void look_at(const T* x, long long n, unsigned long long* found) {
    __shared__ unsigned int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned long long outside = 0, rising = 0, again = 0;
    long long half = n / 2;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        T number = x[i];
        if (number >= 0 && number < 1) atomicAdd(&bins[(int)(number * 256)], 1u);
        else ++outside;  // a NaN as well
        if (i && number > x[i - 1]) ++rising;
        if (i < half && number == x[i + half]) ++again;
    }
    __syncthreads();
    atomicAdd(&found[threadIdx.x], (unsigned long long)bins[threadIdx.x]);
    atomicAdd(&found[256], outside);
    atomicAdd(&found[257], rising);
    atomicAdd(&found[258], again);
}
extern "C" __global__ void look_at_float32(const float* x, long long n, unsigned long long* found) {
    look_at(x, n, found);
}
extern "C" __global__ void look_at_float64(const double* x, long long n, unsigned long long* found) {
    look_at(x, n, found);
}
"""
_kernels = {
    name: raw_kernel(SOURCE, f"look_at_{name}", ("-std=c++17",))
    for name in ("float32", "float64")
}


class UniformCheck:
    """All numbers lie from 0 to below 1, spread evenly, rise as often as they fall, and do not come again.

    >>> check = UniformCheck()
    >>> found = check.compare(np.random.default_rng(0).random(10_000), check.prepare((10_000,)))
    >>> found[0] < found[1]
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> int:
        """Keep how many numbers there must be."""
        return int(inputs[0])

    def compare(self, output: Any, prepared: int) -> tuple[float, float]:
        """Return the largest distance from what is expected, in standard deviations."""
        if output.shape != (prepared,):
            raise MismatchError(
                f"There should be {prepared} numbers; the shape is {output.shape}."
            )
        counts, outside, rising, again = look_at(output)
        if outside:
            raise MismatchError(f"{outside} numbers do not lie from 0 to below 1.")
        # Single precision has 2**24 numbers or more from 0 to 1, so that a few do come again.
        expected = prepared / 2 / (2**24 if output.dtype == np.float32 else 2**52)
        most = expected + _SIGMAS * sqrt(expected) + 3
        if prepared > 1 and again > most:
            raise MismatchError(
                f"{again} numbers come again half an array further on; {most:.0f} may do so by chance."
            )
        off = [0.0, *_distances(counts, rising, prepared)]
        return max(off), _SIGMAS


def _distances(counts: np.ndarray, rising: int, n: int) -> list[float]:
    """Return how far the counts are off, in standard deviations of what chance does."""
    if n < 20 * BINS:  # too few to fill the bins
        return []
    chi_squared = float(((counts - n / BINS) ** 2).sum() / (n / BINS))
    # Wilson and Hilferty: the cube root of chi squared is nearly normal.
    spread = 2 / (9 * (BINS - 1))
    cube_root = ((chi_squared / (BINS - 1)) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return [abs(cube_root), abs(rising - (n - 1) / 2) / sqrt((n + 1) / 12)]


def look_at(x: Any) -> tuple[np.ndarray, int, int, int]:
    """Count the numbers in each bin, those outside, those that rise, and those that come again.

    >>> counts, outside, rising, again = look_at(np.array([0.0, 0.5, 0.25, 0.5, 2.0]))
    >>> counts[[0, 64, 128]].tolist(), outside, rising, again
    ([1, 1, 2], 1, 3, 1)
    """
    if is_device_array(x):
        found = cupy().zeros(BINS + 3, dtype=np.uint64)
        blocks = min(blocks_1d(x.size, _THREADS), _MAX_BLOCKS)
        if x.size:
            _kernels[x.dtype.name]((blocks,), (_THREADS,), (x, np.int64(x.size), found))
        seen = found.get().astype(np.int64)
        return seen[:BINS], *map(int, seen[BINS:])
    parts = in_threads(lambda start: _part(x, start), range(0, x.size, _CHUNK), x.nbytes)
    seen = np.sum([np.zeros(BINS + 3, np.int64), *parts], axis=0)
    return seen[:BINS], *map(int, seen[BINS:])


def _part(x: np.ndarray, start: int) -> np.ndarray:
    part, half = x[start : start + _CHUNK], x.size // 2
    inside = (part >= 0) & (part < 1)
    counts = np.bincount((part[inside] * BINS).astype(np.int64), minlength=BINS)
    pairs = x[max(0, start - 1) : start + _CHUNK]  # with the number before the part
    rising = np.count_nonzero(pairs[1:] > pairs[:-1])
    stop = min(start + _CHUNK, half)
    again = (
        np.count_nonzero(x[start:stop] == x[start + half : stop + half]) if stop > start else 0
    )
    return np.array([*counts, part.size - np.count_nonzero(inside), rising, again])
