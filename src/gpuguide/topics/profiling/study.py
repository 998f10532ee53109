"""How rough each of many signals is: a program of three steps, with one of them made faster, and left out."""

from itertools import pairwise

import numpy as np

from gpuguide.measure import Study, cp, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.grids_2d_3d.study import along_rows, matrix_shape
from gpuguide.topics.profiling import kernels

SIDE = 8192


def roughness_reference(x):
    """Add up row by row, which needs no arrays as large as the signals."""
    total = np.zeros(x.shape[1], x.dtype)
    for above, below in pairwise(x):
        total += np.square(below - above)
    return total


def turned(x, by_tiles=False):
    """Return a copy with rows and columns exchanged, by one of the two kernels."""
    rows, cols = x.shape
    out = cp.empty((cols, rows), x.dtype)
    if by_tiles:
        kernels.turn_by_tiles[(-(-cols // 32), -(-rows // 32)), (32, 8)](x, out)
    else:
        kernels.turn_by_threads[(-(-cols // 32), -(-rows // 8)), (32, 8)](x, out)
    return out


def roughness(x, out):
    """Turn the signals into rows, take differences along each, square them, and add them up."""
    if x.size:
        rows = turned(x)
        differences = rows[:, 1:] - rows[:, :-1]
        (differences * differences).sum(axis=1, out=out)


def roughness_by_tiles(x, out):
    """Do the same, with the faster kernel."""
    if x.size:
        rows = turned(x, by_tiles=True)
        differences = rows[:, 1:] - rows[:, :-1]
        (differences * differences).sum(axis=1, out=out)


def roughness_unturned(x, out):
    """Leave the signals where they are, in columns, and go down."""
    if x.size:
        differences = x[1:] - x[:-1]
        (differences * differences).sum(axis=0, out=out)


def turn_cupy(x, out):
    """Copy the transposed view with CuPy."""
    cp.copyto(out, x.T)


def tiles(n):
    """Return a launch of 32 by 8 threads for each tile of 32 by 32."""
    rows, cols = matrix_shape(n)
    return (-(-cols // 32), -(-rows // 32)), (32, 8)


def signals(n, dtype, rng, exact):
    values = whole_numbers(rng, n, 3, dtype, low=-1) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)


def of_signals():
    """Return what both studies share."""
    return {
        "sizes": (SIDE**2,),
        "size_name": "numbers",
        "dtype": "float32",
        "inputs": signals,
        "input_note": "uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        "small": (0, 6, 33 * 40, 100 * 257),
    }


program = Study(
    name="program",
    title="The squared differences of 8192 signals, added up",
    reference=roughness_reference,
    output=lambda n, dtype: ((matrix_shape(n)[1],), dtype),
    tolerance=Tolerance(
        c=4,
        serial=lambda n: max(matrix_shape(n)[0], 1),
        threads=1,
        scale=lambda x: 4 * np.einsum("ij,ij->j", x, x),
    ),
    baseline="roughness",
    variants=(
        gpu(roughness, "turned by threads"),
        gpu(roughness_by_tiles, "turned by tiles"),
        gpu(roughness_unturned, "not turned"),
    ),
    **of_signals(),
)
turns = Study(
    name="turns",
    title="8192 by 8192 numbers, rows and columns exchanged",
    reference=lambda x: x.T,
    output=lambda n, dtype: (matrix_shape(n)[::-1], dtype),
    traffic=per_element(reads=1, writes=1),
    baseline="turn_by_threads",
    variants=(
        kernel(kernels.turn_by_threads, "a number per thread", along_rows((32, 8))),
        kernel(kernels.turn_by_tiles, "through a tile", tiles),
        gpu(turn_cupy, "CuPy"),
    ),
    **of_signals(),
)
