"""All primes below a limit: from trial division in Python to a sieve in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.device import DeviceInfo
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, end_to_end_variant, kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.primes import counts
from gpuguide.topics.primes.kernels import (
    SEGMENT,
    all_odd,
    launch_per_number,
    odd_numbers,
    sieve_global,
    sieve_shared,
    thread_per_number,
    to_square_root,
)
from gpuguide.topics.primes.kernels_cpu import find_primes, sieve_alone, sieve_parallel
from gpuguide.topics.primes.reference import PrimesCheck, checked_limit

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
DIVIDING_THREADS = 64
SIEVING_THREADS = 512
BLOCKS_PER_STEP, BLOCKS_PER_SMALL_STEP = 16, 4
THREADS = int(get_num_threads())
# No size of the study: both of its checks must call, and compile, the same loop.
ALONE_BELOW = 50_000
SQUARE = "left out: the work of trial division up to half of each number grows with the square of the limit"
ROOT = (
    "left out: the work of trial division up to the root grows with the limit to the power 3/2"
)
SHORT = "left out above 10^7 numbers to keep the run short"
LAUNCHES = "left out: it would be a hundred thousand launches and more"


def n_odd(limit: int, out: Any) -> int:
    """Return how many odd numbers lie below a limit, if the answer has a byte for each."""
    count = checked_limit(limit) // 2
    launch.check(out=out, shape=(count,), dtype="bool")
    return count


def n_steps_to(root: int) -> int:
    """Count the odd numbers from 3 to a root.

    >>> n_steps_to(2), n_steps_to(3), n_steps_to(31_622)
    (0, 1, 15810)
    """
    return max(root - 1, 0) // 2


def store_primes(primes: Any, limit: int, out: np.ndarray) -> None:
    """Write a list of primes as an answer."""
    n_odd(limit, out)
    numbers = np.asarray(primes, np.int64)
    out[:] = False
    out[numbers[numbers > 2] // 2] = True


def primes_python(limit: int, out: np.ndarray) -> None:
    """Try all divisors up to half of each number, in Python."""
    store_primes(find_primes(limit), limit, out)


def primes_launch_per_number(limit: int, out: np.ndarray) -> None:
    """Launch one thread for each number, and fetch its result before the next."""
    result, primes = cupy().empty(1, np.bool_), []
    for number in range(2, limit):
        launch_per_number[1, 1](number, result)
        if result.get()[0]:
            primes.append(number)
    store_primes(primes, limit, out)


def check_prime(number: int) -> int:
    """Return the number if it is prime, and 0 if it is not."""
    if number < 2:
        return 0
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            return 0
    return number


@cache
def check_prime_ufunc() -> Any:
    """Return `check_prime` as a ufunc that runs on the GPU, compiled once."""
    from numba import int32, vectorize

    return vectorize([int32(int32)], target="cuda")(check_prime)


def primes_ufunc(limit: int, out: np.ndarray) -> None:
    """Call a ufunc on all numbers at once, and filter on the host."""
    numbers = check_prime_ufunc()(np.arange(limit, dtype=np.int32))
    store_primes(numbers[numbers != 0], limit, out)


def primes_thread_per_number(limit: int, out: Any) -> None:
    """Give each number a thread, in a single launch."""
    launch.check(out=out, shape=(checked_limit(limit),), dtype="bool")
    if limit:
        thread_per_number[blocks_1d(limit, DIVIDING_THREADS), DIVIDING_THREADS](out)


def primes_odd_numbers(limit: int, out: Any) -> None:
    """Leave out even numbers and even divisors."""
    if n := n_odd(limit, out):
        odd_numbers[blocks_1d(n, DIVIDING_THREADS), DIVIDING_THREADS](out)


def primes_to_square_root(limit: int, out: Any) -> None:
    """Try divisors up to the square root only."""
    if n := n_odd(limit, out):
        to_square_root[blocks_1d(n, DIVIDING_THREADS), DIVIDING_THREADS](out)


def sieve(limit: int, is_prime: Any, blocks_per_step: int) -> None:
    """Cross off multiples in global memory, a row of blocks for each step."""
    all_odd[blocks_1d(is_prime.size, SIEVING_THREADS), SIEVING_THREADS](is_prime)
    if n_steps := n_steps_to(isqrt(limit - 1)):
        sieve_global[(blocks_per_step, n_steps), SIEVING_THREADS](is_prime)


def primes_sieve_global(limit: int, out: Any) -> None:
    """Sieve all numbers in global memory."""
    if n_odd(limit, out):
        sieve(limit, out, BLOCKS_PER_STEP)


def primes_sieve_shared(limit: int, out: Any) -> None:
    """Sieve up to the square root in global memory, then segments in shared memory."""
    if n := n_odd(limit, out):
        root = isqrt(limit - 1)
        # A view: the first block writes these numbers again, the same as they are.
        small = out[: (root + 1) // 2]
        sieve(root + 1, small, BLOCKS_PER_SMALL_STEP)
        sieve_shared[-(-n // SEGMENT), SIEVING_THREADS](small, out)


def primes_with_copy(limit: int, out: np.ndarray) -> None:
    """Sieve in shared memory, and copy the answer to the host."""
    n_odd(limit, out)
    out_device = cupy().empty(out.shape, out.dtype)
    primes_sieve_shared(limit, out_device)
    out_device.get(out=out)


def sieve_numpy(root: int, is_prime: np.ndarray) -> None:
    """Cross off the multiples of each odd prime up to a root, a slice at a time."""
    is_prime[:] = True
    is_prime[0] = False  # 1 is not a prime
    for step in range(3, root + 1, 2):
        if is_prime[step // 2]:
            is_prime[step * step // 2 :: step] = False


def primes_numpy(limit: int, out: np.ndarray) -> None:
    """Sieve with NumPy, which uses one thread."""
    if n_odd(limit, out):
        sieve_numpy(isqrt(limit - 1), out)


def primes_cpu(limit: int, out: np.ndarray) -> None:
    """Sieve segments that fit into a core's cache, on all CPU threads."""
    if n_odd(limit, out):
        (sieve_alone if limit < ALONE_BELOW else sieve_parallel)(isqrt(limit - 1), out)


def answer_spec(limit: int, dtype: Any = None) -> tuple[tuple[int], np.dtype[Any]]:
    """Return shape and dtype of an answer: a byte for each odd number."""
    return (limit // 2,), np.dtype(bool)


def answer_spec_all(limit: int, dtype: Any = None) -> tuple[tuple[int], np.dtype[Any]]:
    """Return shape and dtype of an answer that has a byte for even numbers, too."""
    return (limit,), np.dtype(bool)


def dividing(turns: Callable[[int], np.ndarray]) -> dict[str, Callable[[int], int]]:
    """Declare the work of a kernel whose threads divide so often."""
    return {
        "warp_steps": lambda limit: counts.warp_steps(turns(limit)),
        "divisions": lambda limit: counts.divisions(turns(limit)),
    }


def marks_per_second(device: DeviceInfo) -> float:
    """Return how many marks shared memory can take: one per bank, cycle and multiprocessor."""
    return 32.0 * device.sm_count * device.sm_clock_hz


def study(kernels: Kernels = None) -> Study:
    """Describe the ladder from a loop in Python to a sieve in shared memory.

    Twelve variants for limits of 10**4 to 10**9, each as far as it can go.
    """
    marking: dict[str, Any] = {"marks": counts.marks}

    def to(max_size: int, reason: str) -> dict[str, Any]:
        return {"max_size": max_size, "max_size_reason": reason}

    return Study(
        name="primes",
        title="All primes below a limit",
        variants=(
            cpu_variant("python", primes_python, "Python loop, CPU", **to(10**4, SQUARE)),
            end_to_end_variant(
                "launch_per_number",
                primes_launch_per_number,
                "One launch per number",
                **to(10**4, LAUNCHES),
            ),
            end_to_end_variant(
                "ufunc", primes_ufunc, "Ufunc, pageable copy", **to(10**6, SQUARE)
            ),
            kernel_variant(
                "thread_per_number",
                primes_thread_per_number,
                "One thread per number",
                work=dividing(counts.turns_thread_per_number),
                output=answer_spec_all,
                **to(10**6, SQUARE),
            ),
            kernel_variant(
                "odd_numbers",
                primes_odd_numbers,
                "Odd numbers only",
                work=dividing(counts.turns_odd_numbers),
                **to(10**6, SQUARE),
            ),
            kernel_variant(
                "to_square_root",
                primes_to_square_root,
                "Stop at the square root",
                work=dividing(counts.turns_to_square_root),
                **to(10**7, ROOT),
            ),
            kernel_variant(
                "sieve_global", primes_sieve_global, "Sieve, global memory", work=marking
            ),
            kernel_variant(
                "sieve_shared",
                primes_sieve_shared,
                "Sieve, shared memory",
                work=marking,
                work_ceilings={"marks": marks_per_second},
            ),
            end_to_end_variant("with_copy", primes_with_copy, "The same with a pageable copy"),
            end_to_end_variant(
                "with_copy_pinned",
                primes_with_copy,
                "The same with a pinned copy",
                arrays="pinned",
            ),
            cpu_variant(
                "numpy_sieve", primes_numpy, "Sieve, NumPy, one thread", **to(10**7, SHORT)
            ),
            cpu_variant(
                "cpu_sieve", primes_cpu, f"Sieve, CPU, {THREADS} threads", threads=THREADS
            ),
        ),
        sizes=SIZES,
        inputs=limit_input,
        check=PrimesCheck(),
        output=answer_spec,
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself",
        baseline="cpu_sieve",
        kernels=kernels,
    )


def limit_input(n: int, dtype: Any, rng: np.random.Generator, exact: bool) -> tuple[int]:
    """Make the input of a study: the limit.

    >>> limit_input(10**6, "int32", np.random.default_rng(0), exact=False)
    (1000000,)
    """
    return (n,)
