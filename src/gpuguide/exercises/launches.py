"""Data for kernels' launches: awkward lengths, blocks and grids, and numbers whose sums are exact."""

from __future__ import annotations

import struct
from random import Random

from gpuguide.tracer.memory import array, empty

__all__ = [
    "ANY_GRID",
    "COVERING",
    "COVERING_2D",
    "array",
    "blocks_for",
    "eighths",
    "empty",
    "narrow",
]

#: Lengths, blocks and threads per block: a thread for each element, or more. Small ones first, so that the
#: first mistake is easy to see, and none at all last.
COVERING = (
    (1, 1, 32),
    (5, 6, 1),
    (33, 2, 32),
    (64, 2, 32),
    (31, 2, 96),
    (457, 2, 256),
    (1031, 11, 96),
    (0, 1, 32),
)

#: The same where the grid may have fewer threads than there are elements.
ANY_GRID = (
    (1, 1, 32),
    (5, 2, 1),
    (33, 2, 32),
    (100, 1, 32),
    (31, 2, 96),
    (64, 2, 32),
    (257, 3, 32),
    (1031, 2, 256),
    (2053, 1, 32),
    (0, 1, 32),
)

#: Shapes, blocks along x and y, and threads along x and y: x counts the columns.
COVERING_2D = (
    ((1, 1), (1, 1), (1, 1)),
    ((5, 7), (1, 1), (8, 8)),
    ((1, 33), (3, 1), (16, 16)),
    ((31, 1), (1, 5), (32, 8)),
    ((25, 17), (5, 1), (4, 32)),
    ((16, 32), (1, 2), (32, 8)),
    ((17, 61), (3, 4), (32, 8)),
    ((0, 5), (1, 1), (32, 8)),
)


def blocks_for(n: int, threads: int) -> int:
    """Return the blocks that give each of `n` elements a thread: at least one."""
    return max(1, -(-n // threads))


def eighths(random: Random, low: int, high: int, n: int) -> list[float]:
    """Return multiples of 1/8 between two numbers: sums and products of a few are exact in any order."""
    return [random.randint(8 * low, 8 * high) / 8 for _ in range(n)]


def narrow(value: float) -> float:
    """Round a number to float32."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded
