"""All primes below a limit: from trial division in Python to a sieve in shared memory."""

from functools import cache
from math import isqrt

import numpy as np
from numba import get_num_threads, int32, vectorize

from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, kernel
from gpuguide.topics.primes import counts, kernels, kernels_cpu
from gpuguide.topics.primes.reference import PrimesCheck, primes_reference

DIVIDING_THREADS, SIEVING_THREADS = 64, 512
BLOCKS_PER_STEP, BLOCKS_PER_SMALL_STEP = 16, 4
THREADS = int(get_num_threads())
# No size of the study: both of its checks must call, and compile, the same loop.
ALONE_BELOW = 50_000
SQUARE = "left out: the work of trial division up to half of each number grows with the square of the limit"
ROOT = (
    "left out: the work of trial division up to the root grows with the limit to the power 3/2"
)
LAUNCHES = "left out: it would be a hundred thousand launches and more"


def store_primes(numbers, out):
    """Write a list of primes as an answer."""
    numbers = np.asarray(numbers, np.int64)
    out[:] = False
    out[numbers[numbers > 2] // 2] = True


def python(limit, out):
    """Try all divisors up to half of each number, in Python."""
    store_primes(kernels_cpu.find_primes(limit), out)


def launch_per_number(limit, out):
    """Launch one thread for each number, and fetch its result before the next."""
    result, numbers = cp.empty(1, np.bool_), []
    for number in range(2, limit):
        kernels.launch_per_number[1, 1](number, result)
        if result.get()[0]:
            numbers.append(number)
    store_primes(numbers, out)


def check_prime(number):
    """Return the number if it is prime, and 0 if it is not."""
    if number < 2:
        return 0
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            return 0
    return number


@cache
def check_prime_ufunc():
    """Return `check_prime` as a ufunc that runs on the GPU, compiled once."""
    return vectorize([int32(int32)], target="cuda")(check_prime)


def ufunc(limit, out):
    """Call a ufunc on all numbers at once, and filter on the host."""
    numbers = check_prime_ufunc()(np.arange(limit, dtype=np.int32))
    store_primes(numbers[numbers != 0], out)


def n_steps_to(root):
    """Count the odd numbers from 3 to a root."""
    return max(root - 1, 0) // 2


def sieve(limit, is_prime, blocks_per_step):
    """Cross off multiples in global memory, a row of blocks for each step."""
    kernels.all_odd[-(-is_prime.size // SIEVING_THREADS), SIEVING_THREADS](is_prime)
    if n_steps := n_steps_to(isqrt(limit - 1)):
        kernels.sieve_global[(blocks_per_step, n_steps), SIEVING_THREADS](is_prime)


def sieve_global(limit, out):
    """Sieve all numbers in global memory."""
    if out.size:
        sieve(limit, out, BLOCKS_PER_STEP)


def sieve_shared(limit, out):
    """Sieve up to the square root in global memory, then segments in shared memory."""
    if out.size:
        root = isqrt(limit - 1)
        # A view: the first block writes these numbers again, the same as they are.
        small = out[: (root + 1) // 2]
        sieve(root + 1, small, BLOCKS_PER_SMALL_STEP)
        kernels.sieve_shared[-(-out.size // kernels.SEGMENT), SIEVING_THREADS](small, out)


def with_copy(limit, out):
    """Sieve in shared memory, and copy the answer to the host."""
    out_device = cp.empty(out.shape, out.dtype)
    sieve_shared(limit, out_device)
    out_device.get(out=out)


def sieve_numpy(root, is_prime):
    """Cross off the multiples of each odd prime up to a root, a slice at a time."""
    is_prime[:] = True
    is_prime[0] = False  # 1 is not a prime
    for step in range(3, root + 1, 2):
        if is_prime[step // 2]:
            is_prime[step * step // 2 :: step] = False


def numpy_sieve(limit, out):
    """Sieve with NumPy, which uses one thread."""
    if out.size:
        sieve_numpy(isqrt(limit - 1), out)


def cpu_sieve(limit, out):
    """Sieve segments that fit into a core's cache, on all CPU threads."""
    if out.size:
        alone = limit < ALONE_BELOW
        call = kernels_cpu.sieve_alone if alone else kernels_cpu.sieve_parallel
        call(isqrt(limit - 1), out)


def marks_per_second(device):
    """Return how many marks shared memory can take: one per bank, cycle and multiprocessor."""
    return 32.0 * device.sm_count * device.sm_clock_hz


def dividing(call, label, turns, numbers_per_thread=2, **options):
    """Return a variant with a thread for each number of the answer; `turns` counts what each of them does."""

    def grid(limit):
        n_threads = limit // numbers_per_thread
        return -(-n_threads // DIVIDING_THREADS) or 1, DIVIDING_THREADS

    return kernel(
        call,
        label,
        grid,
        arguments=lambda limit, out: (out,),  # the kernels do not take the limit
        work={
            "warp_steps": lambda limit: counts.warp_steps(turns(limit)),
            "divisions": lambda limit: counts.divisions(turns(limit)),
        },
        **options,
    )


# For functions that launch several kernels, on Numba's views.
marking = {"arrays": "numba", "simulatable": True, "work": {"marks": counts.marks}}

primes = Study(
    name="primes",
    title="All primes below a limit",
    sizes=(10**4, 10**5, 10**6, 10**7, 10**8, 10**9),
    size_name="numbers",
    dtype="int32",
    inputs=lambda n, dtype, rng, exact: (n,),
    input_note="the limit itself",
    check=PrimesCheck(),
    answer=primes_reference,
    output=lambda n, dtype: ((n // 2,), np.bool_),
    small=(),  # its own test has shorter segments
    baseline="cpu_sieve",
    variants=(
        cpu(python, "Python loop, CPU", up_to=10**4, because=SQUARE),
        end_to_end(launch_per_number, "One launch per number", up_to=10**4, because=LAUNCHES),
        end_to_end(ufunc, "Ufunc, pageable copy", up_to=10**6, because=SQUARE),
        dividing(
            kernels.thread_per_number,
            "One thread per number",
            counts.turns_thread_per_number,
            numbers_per_thread=1,
            output=lambda n, dtype: ((n,), np.bool_),
            up_to=10**6,
            because=SQUARE,
        ),
        dividing(
            kernels.odd_numbers,
            "Odd numbers only",
            counts.turns_odd_numbers,
            up_to=10**6,
            because=SQUARE,
        ),
        dividing(
            kernels.to_square_root,
            "Stop at the square root",
            counts.turns_to_square_root,
            up_to=10**7,
            because=ROOT,
        ),
        dividing(
            kernels.in_32_bits,
            "The same in 32 bits",
            counts.turns_to_square_root,
            up_to=10**7,
            because=ROOT,
        ),
        gpu(sieve_global, "Sieve, global memory", **marking),
        gpu(
            sieve_shared,
            "Sieve, shared memory",
            work_ceilings={"marks": marks_per_second},
            **marking,
        ),
        end_to_end(with_copy, "The same with a pageable copy"),
        end_to_end(
            with_copy, "The same with a pinned copy", name="with_copy_pinned", arrays="pinned"
        ),
        cpu(numpy_sieve, "Sieve, NumPy, one thread", up_to=10**7),
        cpu(cpu_sieve, f"Sieve, CPU, {THREADS} threads", THREADS),
    ),
)
