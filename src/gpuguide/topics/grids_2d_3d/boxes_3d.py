"""One thread for each element of a box: the axis of threadIdx.x among three."""

from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, kernel, per_element, uniform, whole_numbers
from gpuguide.topics.grids_2d_3d import kernels
from gpuguide.topics.grids_2d_3d.study import blocks, matrix_shape


def maximum_reference(a, b):
    """Return the larger of two arrays, element by element, and b where one of them is NaN."""
    return array_module(a).where(a > b, a, b)


def box_shape(n):
    """Return three lengths whose product is n, nearest to a cube, the shortest first."""
    depth = next((d for d in range(round(n ** (1 / 3)), 0, -1) if n % d == 0), 0)
    return (depth, *matrix_shape(n // depth)) if depth else (0, 0, 0)


def along_last(block):
    """Return a launch with x along the last axis."""
    return lambda n: (blocks(box_shape(n)[::-1], block), block)


def along_first(block):
    """Return a launch with x along the first axis."""
    return lambda n: (blocks(box_shape(n), block), block)


def inputs(n, dtype, rng, exact):
    """Draw two boxes."""

    def one():
        # Whole numbers up to here are exact in float32.
        values = whole_numbers(rng, n, 2**24, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return one(), one()


fast, slow = kernels.maximum_fast_kernel, kernels.maximum_slow_kernel
CUBE, FLAT = (8, 8, 8), (32, 8, 1)

box = Study(
    name="box",
    title="The larger of two elements, in three dimensions",
    sizes=(64**3, 256**3),
    inputs=inputs,
    input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
    reference=maximum_reference,
    equal=True,
    traffic=per_element(reads=2, writes=1),
    small=(0, 1, 7 * 9 * 11),
    baseline="slow_8x8x8",
    variants=(
        kernel(fast, "x along the last axis, 8x8x8", along_last(CUBE), name="fast_8x8x8"),
        kernel(slow, "x along the first axis, 8x8x8", along_first(CUBE), name="slow_8x8x8"),
        kernel(fast, "x along the last axis, 32x8x1", along_last(FLAT), name="fast_32x8x1"),
        kernel(slow, "x along the first axis, 32x8x1", along_first(FLAT), name="slow_32x8x1"),
    ),
)
