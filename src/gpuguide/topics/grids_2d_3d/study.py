"""One thread for each element of a matrix: which axis threadIdx.x should walk along, and what it costs."""

from math import isqrt

import numpy as np

from gpuguide.measure import Study, kernel, per_element, uniform
from gpuguide.topics.grids_2d_3d import kernels

# The rows of 4128 and 16 416 numbers are no power of two apart, and still start at multiples of 256 bytes.
ROWS = (256, 512, 1024, 4096, 4128, 8192, 16_384, 16_416)


def sectors_per_request(block, strides):
    """Count the sectors that a warp touches; strides are bytes along x, y and z.

    >>> sectors_per_request((32, 8), strides=(8, 8192)), sectors_per_request((32, 8), strides=(8192, 8))
    (8.0, 32.0)
    """
    places = np.unravel_index(np.arange(np.prod(block)), block[::-1])[::-1]  # x counts fastest
    steps = [place * stride for place, stride in zip(places, strides, strict=True)]
    offsets = np.sum(steps, axis=0)
    warps = (offsets // 32).reshape(-1, 32)  # sectors of 32 bytes, warps of 32 threads
    return float(np.mean([len(set(sectors)) for sectors in warps.tolist()]))


def matrix_shape(n):
    """Return the rows and columns of n elements that are nearest to a square, rows first."""
    rows = next((rows for rows in range(isqrt(n), 0, -1) if n % rows == 0), 0)
    return (rows, n // rows) if rows else (0, 0)


def blocks(lengths, block):
    """Count the blocks that cover lengths along x, y and z."""
    return tuple(-(-length // width) for length, width in zip(lengths, block, strict=True))


def along_rows(block):
    """Return a launch with x along the rows: it counts columns."""
    return lambda n: (blocks(matrix_shape(n)[::-1], block), block)


def down_columns(block):
    """Return a launch with x down the columns: it counts rows."""
    return lambda n: (blocks(matrix_shape(n), block), block)


def threads_down_columns(block):
    """Return a launch of blocks along the rows, which are as wide as their threads along y."""
    return lambda n: (blocks(matrix_shape(n)[::-1], block[::-1]), block)


def inputs(n, dtype, rng, exact):
    """Draw a matrix."""
    # Counting up shows an element that ended up in the wrong place.
    values = np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)


fast, slow = kernels.fast_axis, kernels.slow_axis

matrix = Study(
    name="matrix",
    title="Adding one to every element of a square matrix",
    sizes=tuple(rows**2 for rows in ROWS),
    size_name="matrix elements",
    dtype="float64",
    inputs=inputs,
    input_note="uniform random numbers; whole numbers counting up for the exact check",
    reference=lambda x: x + 1,
    equal=True,
    in_place=True,
    traffic=per_element(reads=1, writes=1, flops=1, unit="fp64"),
    small=(0, 1, 31 * 33),
    baseline="fast_32x8",
    variants=(
        kernel(fast, "x along rows, 32x8", along_rows((32, 8)), name="fast_32x8"),
        kernel(fast, "x along rows, 16x16", along_rows((16, 16)), name="fast_16x16"),
        kernel(slow, "x down columns, 16x16", down_columns((16, 16)), name="slow_16x16"),
        kernel(slow, "x down columns, 32x8", down_columns((32, 8)), name="slow_32x8"),
        kernel(slow, "x down columns, 32x32", down_columns((32, 32)), name="slow_32x32"),
        kernel(
            kernels.blocks_along_rows,
            "x down columns, blocks along rows, 32x8",
            threads_down_columns((32, 8)),
        ),
    ),
)
