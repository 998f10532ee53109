"""The smallest divisor of each number: work that ends at once or late, dealt out to warps in several ways."""

from functools import cache
from math import isqrt

import numpy as np

from gpuguide.measure import Study, kernel
from gpuguide.topics.divergence import kernels
from gpuguide.topics.divergence.warp_steps import warp_steps

BLOCK = 128


def grid(n, per_block=BLOCK):
    """Count the blocks that take n numbers."""
    return -(-n // per_block), BLOCK


def regrouping_grid(n):
    """Count the blocks that take eight numbers a thread."""
    return grid(n, kernels.NUMBERS_PER_BLOCK)


def divisors_alone(any_order, costly_first, divisors):
    """Hand over no list: the kernel takes the numbers in their order."""
    return (divisors,)


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
        kernel(
            kernels.by_cost,
            "shuffled",
            grid,
            name="shuffled",
            arguments=lambda any_order, costly_first, divisors: (any_order, divisors),
            note="Take the numbers in random order.",
        ),
        kernel(
            kernels.in_order,
            "in order",
            grid,
            arguments=divisors_alone,
            note="Take the numbers one after the other: an even one beside a prime.",
            work={"warp_steps": lambda n: warp_steps(divisions(n))},
        ),
        kernel(
            kernels.regrouped,
            "regrouped once",
            regrouping_grid,
            arguments=divisors_alone,
            note="Let each block deal out anew what small divisors leave open.",
        ),
        kernel(
            kernels.regrouped_often,
            "regrouped at each stage",
            regrouping_grid,
            arguments=divisors_alone,
            note="Let each block deal out anew what is open, at every stage.",
        ),
        kernel(
            kernels.by_cost,
            "sorted by cost",
            grid,
            arguments=lambda any_order, costly_first, divisors: (costly_first, divisors),
            note="Take the numbers with the most divisions first, as if that were known.",
            work={"warp_steps": lambda n: warp_steps(np.sort(divisions(n))[::-1])},
        ),
    ),
)
