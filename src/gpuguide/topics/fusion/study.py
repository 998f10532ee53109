"""A squared difference in three kernels, in two and in one; its steps alone; and its sum."""

from functools import cache, lru_cache, partial

import numpy as np

from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.buffers import blocks
from gpuguide.measure.plan import generator
from gpuguide.topics.fusion.kernels import squared_four

BLOCK = 256
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
PART = 1 << 24
# The square of a difference is below 2**20, and 10**8 of them add up to less than 2**53.
LARGEST = 1000


def three_steps(x, y):
    """Write the expression as it is: two differences and a product, each in a new array."""
    return (x - y) * (x - y)


def two_steps(x, y):
    """Keep the difference: two new arrays."""
    d = x - y
    return d * d


@cache
def fuse(function):
    """Fuse a function once; its kernel is compiled at the first call with a dtype."""
    return cp.fuse(function)


def fused(x, y):
    """Call the expression as cp.fuse has made one kernel of it."""
    return fuse(three_steps)(x, y)


def three_steps_reversed(x, y):
    """Do the three steps with y from its end."""
    return three_steps(x, y[::-1])


def fused_reversed(x, y):
    """Call the fused function with y from its end."""
    return fused(x, y[::-1])


def subtract(x, y):
    """Take the first step alone."""
    return x - y


def multiply(x, y):
    """Take the last step alone: a product of two arrays."""
    return x * y


def square(x, y):
    """Multiply an array by itself, as the last of two steps does."""
    return x * x


def sum_of_squares(x, y):
    """Add up squared differences."""
    return cp.sum((x - y) * (x - y))


def sum_of_one(d):
    """Add up squares."""
    return cp.sum(d * d)


def sum_apart(x, y):
    """Let the fused function write the squares, and add them up."""
    return fused(x, y).sum()


def sum_fused(x, y):
    """Call a fused function that ends in a sum."""
    return fuse(sum_of_squares)(x, y)


def sum_of_one_array(x, y):
    """Take the difference first, so that the fused sum reads a single array."""
    return fuse(sum_of_one)(x - y)


def numbers_moved(n_arrays, n):
    """Count the numbers that go to memory or come from it."""
    return n_arrays * n


def moving(reads, writes):
    """Declare how many arrays a way reads and writes."""
    return {
        "traffic": per_element(reads=reads, writes=writes),
        "work": {"numbers_moved": partial(numbers_moved, reads + writes)},
    }


def squared_reference(x, y):
    """Square the difference, which is the same the other way round."""
    return array_module(x).square(y + (-x))


def sum_reference(x, y):
    """Add up scalar products of pieces in float64, which holds whole numbers of this size exactly."""
    total = 0
    for part in blocks(x.size, PART):
        d = (x[part] + (-y[part])).astype(np.float64)
        total += int(d @ d)
    return array_module(x).asarray(total, dtype=x.dtype)


def inputs(n, dtype, rng, exact):
    """Draw a pair of arrays."""
    if dtype.kind == "i":
        return whole_pair(n)
    if exact:
        return tuple(whole_numbers(rng, n, LARGEST, dtype) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


# The same for all studies: at 10**8 they take longer to draw than everything that is timed.
@lru_cache(maxsize=1)
def whole_pair(n):
    """Draw a pair of arrays of whole numbers."""
    rng = generator("fusion", n, "int64")
    return tuple(whole_numbers(rng, n, LARGEST, "int64") for _ in range(2))


common = {
    "dtype": "int64",
    "inputs": inputs,
    "input_note": "whole numbers from 0 to 999; in single precision uniform random numbers",
    "equal": True,
}
new = {"allocates": True}  # as an expression makes its result

squared = Study(
    name="squared",
    title="The square of a difference",
    sizes=SIZES,
    reference=squared_reference,
    baseline="three_steps",
    variants=(
        gpu(three_steps, "three kernels", **new, **moving(6, 3)),
        gpu(two_steps, "two kernels", **new, **moving(3, 2)),
        gpu(fused, "fused", **new, **moving(2, 1)),
    ),
    **common,
)

backwards = Study(
    name="reversed",
    title="The square of a difference to a reversed array",
    sizes=(10**4, 10**8),  # the source's own, and one that no cache holds
    reference=lambda x, y: squared_reference(x, array_module(x).flip(y)),
    baseline="three_steps_reversed",
    variants=(
        gpu(three_steps_reversed, "three kernels", **new, **moving(6, 3)),
        gpu(fused_reversed, "fused", **new, **moving(2, 1)),
    ),
    **common,
)

difference = Study(
    name="difference",
    title="A difference",
    sizes=SIZES[-1:],
    reference=lambda x, y: x + (-y),
    baseline="subtract",
    variants=(gpu(subtract, "x - y", **new, **moving(2, 1)),),
    **common,
)

product = Study(
    name="product",
    title="A product",
    sizes=SIZES[-1:],
    # In float64, which holds these products exactly.
    reference=lambda x, y: (y.astype(np.float64) * x).astype(x.dtype),
    baseline="multiply",
    variants=(gpu(multiply, "x * y", **new, **moving(2, 1)),),
    **common,
)

itself = Study(
    name="itself",
    title="A square",
    sizes=SIZES[-1:],
    reference=lambda x, y: array_module(x).square(x),
    baseline="square",
    variants=(gpu(square, "d * d", **new, **moving(1, 1)),),
    **common,
)

single = Study(
    name="single",
    title="The square of a difference, float32",
    sizes=SIZES[-1:],
    reference=squared_reference,
    baseline="fused_single",
    variants=(
        gpu(fused, "fused", name="fused_single", **new, **moving(2, 1)),
        kernel(
            squared_four,
            "four per thread",
            lambda n: (-(-n // (4 * BLOCK)), BLOCK),
            note="Launch a kernel of our own, whose threads take four elements each.",
            **moving(2, 1),
        ),
    ),
    **common | {"dtype": "float32"},
)

total = Study(
    name="total",
    title="The sum of squared differences",
    sizes=SIZES[-1:],
    reference=sum_reference,
    output=lambda n, dtype: ((), dtype),
    baseline="sum_apart",
    variants=(
        gpu(sum_apart, "fused, then cp.sum", **new, **moving(3, 1)),
        gpu(sum_fused, "all of it fused", **new, **moving(2, 0)),
        gpu(sum_of_one_array, "x - y, then fused", **new, **moving(3, 1)),
    ),
    **common,
)
