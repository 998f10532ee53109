"""How rough each of many signals is, the sum of its squared differences, with one step made faster."""

import numpy as np

from gpuguide.measure import Study, cp, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.grids_2d_3d.study import matrix_shape
from gpuguide.topics.profiling import kernels

THREADS = 256


def roughness(x, out, add_up):
    """Take differences along each row, square them, and add them up by a kernel with so many threads a row."""
    if x.size:
        differences = x[:, 1:] - x[:, :-1]
        squares = differences * differences
        add_up(squares, out)


def by_thread(a, out):
    """Add up with a thread for each row."""
    kernels.thread_per_row[-(-len(a) // THREADS), THREADS](a, out)


def by_warp(a, out):
    """Add up with a warp for each row."""
    kernels.warp_per_row[-(-32 * len(a) // THREADS), THREADS](a, out)


def by_cupy(a, out):
    """Add up with cp.sum."""
    cp.sum(a, axis=1, out=out)


def roughness_by_thread(x, out):
    """Run the three steps, the last one with a thread for each row."""
    roughness(x, out, by_thread)


def roughness_by_warp(x, out):
    """Run the three steps, the last one with a warp for each row."""
    roughness(x, out, by_warp)


def signals(n, dtype, rng, exact):
    values = whole_numbers(rng, n, 3, dtype, low=-1) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)


def rows_of(n, dtype):
    return (matrix_shape(n)[0],), dtype


def of_signals():
    """Return what both studies share."""
    return {
        "sizes": (8192**2,),
        "size_name": "numbers",
        "dtype": "float32",
        "inputs": signals,
        "input_note": "uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        "output": rows_of,
        "small": (0, 6, 33 * 40, 100 * 257),
    }


program = Study(
    name="program",
    title="The squared differences of 8192 signals, added up",
    reference=lambda x: np.square(np.diff(x)).sum(axis=1),
    tolerance=Tolerance(
        c=4,
        serial=lambda n: max(matrix_shape(n)[1], 1),
        threads=1,
        scale=lambda x: 4 * np.square(x).sum(axis=1),
    ),
    baseline="roughness_by_thread",
    variants=(
        gpu(roughness_by_thread, "a thread per row"),
        gpu(roughness_by_warp, "a warp per row"),
    ),
    **of_signals(),
)
sums = Study(
    name="sums",
    title="The sum of each of 8192 rows",
    reference=lambda x: x @ np.ones(x.shape[1]),
    tolerance=Tolerance(
        c=4,
        serial=lambda n: max(matrix_shape(n)[1], 1),
        threads=1,
        scale=lambda x: np.abs(x).sum(axis=1),
    ),
    traffic=per_element(reads=1, writes=0, flops=1),
    baseline="thread_per_row",
    variants=(
        kernel(
            kernels.thread_per_row,
            "a thread per row",
            lambda n: (-(-matrix_shape(n)[0] // THREADS), THREADS),
        ),
        kernel(
            kernels.warp_per_row,
            "a warp per row",
            lambda n: (-(-32 * matrix_shape(n)[0] // THREADS), THREADS),
            simulatable=False,
        ),
        gpu(by_cupy, "cp.sum"),
    ),
    **of_signals(),
)
