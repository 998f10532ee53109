"""The smallest divisor of each number: work that ends at once or late, dealt out to warps in several ways."""

from functools import cache
from math import isqrt

import numpy as np

from gpuguide.measure import Study, gpu
from gpuguide.topics.divergence import kernels
from gpuguide.topics.divergence.warp_steps import warp_steps

BLOCK = 128
# Launched by a function, because each kernel takes another of the lists.
VIEWS = {"arrays": "numba", "simulatable": True}


def launch(kernel, *arguments, per_block=BLOCK):
    """Launch as many blocks as the last of the arguments needs."""
    n = arguments[-1].size
    if n:
        kernel[-(-n // per_block), BLOCK](*arguments)


def in_order(any_order, costly_first, divisors):
    """Take the numbers one after the other: an even one beside a prime."""
    launch(kernels.in_order, divisors)


def shuffled(any_order, costly_first, divisors):
    """Take the numbers in random order."""
    launch(kernels.by_cost, any_order, divisors)


def by_cost(any_order, costly_first, divisors):
    """Take the numbers with the most divisions first, as if that were known."""
    launch(kernels.by_cost, costly_first, divisors)


def regrouped(any_order, costly_first, divisors):
    """Let each block deal out anew what small divisors leave open."""
    launch(kernels.regrouped, divisors, per_block=kernels.NUMBERS_PER_BLOCK)


def regrouped_often(any_order, costly_first, divisors):
    """Let each block deal out anew what is open, at every stage."""
    launch(kernels.regrouped_often, divisors, per_block=kernels.NUMBERS_PER_BLOCK)


def divisors_reference(numbers, *lists):
    """Walk over the multiples of all numbers, large ones first: the last to come by is the smallest."""
    last = numbers.size + 1
    divisor = np.arange(last + 1, dtype=np.uint32)
    for step in range(isqrt(last), 1, -1):
        divisor[step * step :: step] = step
    return divisor[2:]


# Inputs, counts of work and facts ask for the same few sizes.
@cache
def divisions(n):
    """Count how many odd divisors are tried for each of n numbers from 2 on, one in each turn of the loop."""
    numbers = np.arange(2, n + 2)
    divisor = divisors_reference(numbers).astype(np.int64)
    roots = np.sqrt(numbers).astype(np.int64)
    last = np.where(divisor == numbers, roots, divisor)
    counts = np.where(numbers % 2 == 0, 0, np.maximum(last - 1, 0) // 2)
    # All callers get this one array, which the cache keeps.
    counts.flags.writeable = False
    return counts


def inputs(n, dtype, rng, exact):
    """List the numbers in random order, and those with the most divisions first."""
    costly_first = np.argsort(-divisions(n), kind="stable").astype(dtype)
    return rng.permutation(n).astype(dtype), costly_first


divisors = Study(
    name="divisors",
    title="The smallest divisor of each number",
    sizes=(2**12, 2**14, 2**16, 2**18, 2**20, 2**22),
    size_name="numbers",
    dtype="int32",
    inputs=inputs,
    input_note="all numbers from 2 on; two lists that name them in other orders",
    reference=divisors_reference,
    output=lambda n, dtype: (n, np.uint32),
    small=(0, 1, 2, 2049),
    baseline="in_order",
    variants=(
        gpu(shuffled, "shuffled", **VIEWS),
        gpu(
            in_order,
            "in order",
            work={"warp_steps": lambda n: warp_steps(divisions(n))},
            **VIEWS,
        ),
        gpu(regrouped, "regrouped once", **VIEWS),
        gpu(regrouped_often, "regrouped at each stage", **VIEWS),
        gpu(
            by_cost,
            "sorted by cost",
            work={"warp_steps": lambda n: warp_steps(np.sort(divisions(n))[::-1])},
            **VIEWS,
        ),
    ),
)
