"""A squared difference in three kernels, in two and in one; its steps alone; and its sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.buffers import blocks
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    Variant,
    cupy_variant,
    generator,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.fusion.kernels import squared_four

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
SOURCE_SIZES = (10**4, 10**8)
"""The source's own, and one that no cache holds."""
THREADS_PER_BLOCK = 256
_BLOCK = 1 << 24
# The square of a difference is below 2**20, and 10**8 of them add up to less than 2**53.
_LARGEST = 1000


def three_steps(x: Any, y: Any) -> Any:
    """Write the expression as it is: two differences and a product, each in a new array."""
    check_pair(x, y)
    return (x - y) * (x - y)


def two_steps(x: Any, y: Any) -> Any:
    """Keep the difference: two new arrays."""
    check_pair(x, y)
    d = x - y
    return d * d


def one_step(x: Any, y: Any) -> Any:
    """Call the expression as cp.fuse has made one kernel of it."""
    check_pair(x, y)
    return fused_function()(x, y)


@cache
def fused_function() -> Any:
    """Fuse the expression; its kernel is compiled at the first call with a dtype."""
    cp = cupy()

    @cp.fuse
    def squared_difference(x: Any, y: Any) -> Any:
        return (x - y) * (x - y)

    return squared_difference


def three_steps_reversed(x: Any, y: Any) -> Any:
    """Do the three steps with y from its end."""
    return three_steps(x, y[::-1])


def fused_reversed(x: Any, y: Any) -> Any:
    """Call the fused function with y from its end."""
    return one_step(x, y[::-1])


def launch_squared_four(x: Any, y: Any, out: Any) -> None:
    """Launch a kernel of our own, whose threads take four elements each."""
    n = launch.check(x=x, y=y, out=out, ndim=1, dtype="float32")
    if n:
        squared_four[blocks_1d(-(-n // 4), THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, y, out)


def subtract(x: Any, y: Any) -> Any:
    """Take the first step alone."""
    check_pair(x, y)
    return x - y


def multiply(x: Any, y: Any) -> Any:
    """Take the last step alone: a product of two arrays."""
    check_pair(x, y)
    return x * y


def square(x: Any, y: Any) -> Any:
    """Multiply an array by itself, as the last of two steps does."""
    check_pair(x, y)
    return x * x


def sum_apart(x: Any, y: Any) -> Any:
    """Let the fused function write the squares, and add them up."""
    return one_step(x, y).sum()


def sum_fused(x: Any, y: Any) -> Any:
    """Call a fused function that ends in a sum."""
    check_pair(x, y)
    return fused_sum()(x, y)


def sum_of_one_array(x: Any, y: Any) -> Any:
    """Take the difference first, so that the fused sum reads a single array."""
    check_pair(x, y)
    return fused_sum_of_one()(x - y)


@cache
def fused_sum_of_one() -> Any:
    """Fuse a square with the sum."""
    cp = cupy()

    @cp.fuse
    def sum_of_one(d: Any) -> Any:
        return cp.sum(d * d)

    return sum_of_one


@cache
def fused_sum() -> Any:
    """Fuse the expression together with the sum."""
    cp = cupy()

    @cp.fuse
    def sum_of_squares(x: Any, y: Any) -> Any:
        return cp.sum((x - y) * (x - y))

    return sum_of_squares


def check_pair(x: Any, y: Any) -> None:
    """Raise ArgumentError unless both are vectors of one length and dtype."""
    launch.check(x=x, y=y, ndim=1, dtype=str(getattr(x, "dtype", "int64")))


def squared_reference(x: Any, y: Any) -> Any:
    """Square the difference, which is the same the other way round.

    >>> squared_reference(np.array([5, 1]), np.array([2, 1])).tolist()
    [9, 0]
    """
    return array_module(x).square(difference_reference(y, x))


def reversed_reference(x: Any, y: Any) -> Any:
    """Square the difference to the last, the last but one, and so on.

    >>> reversed_reference(np.array([5, 1]), np.array([2, 1])).tolist()
    [16, 1]
    """
    return squared_reference(x, array_module(x).flip(y))


def difference_reference(x: Any, y: Any) -> Any:
    """Add what is below zero.

    >>> difference_reference(np.array([5, 1]), np.array([2, 1])).tolist()
    [3, 0]
    """
    return x + (-y)


def product_reference(x: Any, y: Any) -> Any:
    """Multiply in float64, which holds these products exactly.

    >>> product_reference(np.array([5, -1]), np.array([2, 3])).tolist()
    [10, -3]
    """
    return (y.astype(np.float64) * x).astype(x.dtype)


def square_reference(x: Any, y: Any) -> Any:
    """Square the first array.

    >>> square_reference(np.array([5, -1]), np.array([2, 3])).tolist()
    [25, 1]
    """
    return array_module(x).square(x)


def sum_reference(x: Any, y: Any) -> Any:
    """Add up scalar products of pieces in float64, which holds whole numbers of this size exactly.

    >>> int(sum_reference(np.array([5, 1]), np.array([2, 1])))
    9
    """
    total = 0
    for part in blocks(x.size, _BLOCK):
        d = difference_reference(x[part], y[part]).astype(np.float64)
        total += int(d @ d)
    return array_module(x).asarray(total, dtype=x.dtype)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three kernels, two and one."""
    return _study(
        "squared",
        "The square of a difference",
        (
            _new("three_steps", three_steps, "three kernels", 6, 3),
            _new("two_steps", two_steps, "two kernels", 3, 2),
            _new("fused", one_step, "fused", 2, 1),
        ),
        SIZES,
        squared_reference,
        kernels,
    )


def reversed_study(kernels: Kernels = None) -> Study:
    """Describe the same comparison with one array read from its end."""
    return _study(
        "reversed",
        "The square of a difference to a reversed array",
        (
            _new(
                "three_steps_reversed",
                three_steps_reversed,
                "three kernels",
                6,
                3,
            ),
            _new("fused_reversed", fused_reversed, "fused", 2, 1),
        ),
        SOURCE_SIZES,
        reversed_reference,
        kernels,
    )


def subtract_study(kernels: Kernels = None) -> Study:
    """Describe the measurement of a difference alone."""
    variants = (_new("subtract", subtract, "x - y", 2, 1),)
    return _study(
        "difference", "A difference", variants, SIZES[-1:], difference_reference, kernels
    )


def multiply_study(kernels: Kernels = None) -> Study:
    """Describe the measurement of a product alone."""
    variants = (_new("multiply", multiply, "x * y", 2, 1),)
    return _study("product", "A product", variants, SIZES[-1:], product_reference, kernels)


def square_study(kernels: Kernels = None) -> Study:
    """Describe the measurement of a square alone."""
    variants = (_new("square", square, "d * d", 1, 1),)
    return _study("itself", "A square", variants, SIZES[-1:], square_reference, kernels)


def single_study(kernels: Kernels = None) -> Study:
    """Describe the comparison in single precision with a kernel of our own."""
    return _study(
        "single",
        "The square of a difference, float32",
        (
            _new("fused_single", one_step, "fused", 2, 1),
            kernel_variant(
                "squared_four", launch_squared_four, "four per thread", **_moving(2, 1)
            ),
        ),
        SIZES[-1:],
        squared_reference,
        kernels,
        dtype="float32",
    )


def sum_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a fused sum with a sum of what was fused before it."""
    return _study(
        "total",
        "The sum of squared differences",
        (
            _new("sum_apart", sum_apart, "fused, then cp.sum", 3, 1),
            _new("sum_fused", sum_fused, "all of it fused", 2, 0),
            _new("sum_of_one_array", sum_of_one_array, "x - y, then fused", 3, 1),
        ),
        SIZES[-1:],
        sum_reference,
        kernels,
        output=lambda n, dtype: ((), dtype),
    )


def _study(
    name: str,
    title: str,
    variants: tuple[Variant, ...],
    sizes: tuple[int, ...],
    reference: Callable[..., Any],
    kernels: Kernels,
    **options: Any,
) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=tuple(dict.fromkeys(min(size, most_elements()) for size in sizes)),
        inputs=_pair,
        reference=reference,
        equal=True,
        **{"dtype": "int64", **options},
        input_note="whole numbers from 0 to 999; in single precision uniform random numbers",
        baseline=variants[0].name,
        kernels=kernels,
    )


def _new(name: str, call: Any, label: str, reads: int, writes: int) -> Variant:
    # Each result is a new array, as an expression makes one.
    return cupy_variant(name, call, label, allocates=True, **_moving(reads, writes))


def _moving(reads: int, writes: int) -> dict[str, Any]:
    """Declare how many arrays a way reads and writes."""
    return {
        "traffic": streaming_traffic(reads=reads, writes=writes),
        "work": {"numbers_moved": partial(numbers_moved, reads + writes)},
    }


def numbers_moved(n_arrays: int, n: int) -> int:
    """Count the numbers that go to memory or come from it.

    >>> numbers_moved(9, 10**8)
    900000000
    """
    return n_arrays * n


def most_elements() -> int:
    """Return the largest of the sizes for which the GPU has memory: inputs, results, and what checks them."""
    if not has_gpu():
        return SIZES[-1]
    free = int(cupy().cuda.Device().mem_info[0])
    return max((size for size in SIZES if 10 * 8 * size <= free), default=SIZES[0])


def _pair(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if dtype.kind == "i":
        return _whole_numbers(n, dtype.name)
    if exact:
        return tuple(whole_numbers(rng, n, _LARGEST, dtype) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


# The same for all studies: at 10**8 they take longer to draw than everything that is timed.
@lru_cache(maxsize=1)
def _whole_numbers(n: int, dtype: str) -> tuple[np.ndarray, ...]:
    rng = generator("fusion", n, dtype)
    return tuple(whole_numbers(rng, n, _LARGEST, dtype) for _ in range(2))
