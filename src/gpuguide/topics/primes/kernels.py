"""All primes below a limit: the kernels of the page, each as the page shows it."""

import numpy as np
from numba import cuda


@cuda.jit
def launch_per_number(number, result):
    """Test one number, in the only thread of a launch."""
    result[0] = number > 1
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            result[0] = False
            break


@cuda.jit
def thread_per_number(is_prime):
    """Test one number in each thread."""
    number = cuda.grid(1)
    if number < is_prime.size:
        prime = number > 1
        for j in range(2, number // 2 + 1):
            if number % j == 0:
                prime = False
                break
        is_prime[number] = prime


@cuda.jit
def odd_numbers(is_prime):
    """Test one odd number in each thread, by odd divisors."""
    i = cuda.grid(1)
    if i < is_prime.size:
        number = 2 * i + 1
        prime = number > 1
        for j in range(3, number // 2 + 1, 2):
            if number % j == 0:
                prime = False
                break
        is_prime[i] = prime


@cuda.jit
def to_square_root(is_prime):
    """Try odd divisors up to the square root only."""
    i = cuda.grid(1)
    if i < is_prime.size:
        number = 2 * i + 1
        prime = number > 1
        j = 3
        while prime and j * j <= number:
            prime = number % j != 0
            j += 2
        is_prime[i] = prime


@cuda.jit
def in_32_bits(is_prime):
    """Do the same with unsigned 32-bit integers."""
    i = cuda.grid(1)
    if i < is_prime.size:
        number = np.uint32(2 * i + 1)
        prime = number > 1
        j = np.uint32(3)
        while prime and np.uint32(j * j) <= number:
            prime = number % j != 0
            j = np.uint32(j + 2)
        is_prime[i] = prime


@cuda.jit
def all_odd(is_prime):
    """Take every odd number for a prime, except 1."""
    i = cuda.grid(1)
    if i < is_prime.size:
        is_prime[i] = i > 0


@cuda.jit
def sieve_global(is_prime):
    """Cross off the multiples of one odd number in each row of blocks."""
    step = 2 * cuda.blockIdx.y + 3
    if is_prime[step // 2]:  # read too early, this walk is wasted
        first = step * step // 2 + step * cuda.grid(1)
        for i in range(first, is_prime.size, step * cuda.gridsize(1)):
            is_prime[i] = False


SEGMENT = 32_768  # odd numbers per block, one byte each
SHORT = 128  # steps below 2 * SHORT are short: the whole block walks them


@cuda.jit(device=True)
def first_in(low, step):
    """Find where a step first lands in a segment."""
    first = step * step // 2 - low
    return first if first >= 0 else first % step


@cuda.jit
def sieve_shared(small, is_prime):
    """Sieve one segment in each block, by the primes among the small numbers."""
    crossed = cuda.shared.array(SEGMENT, np.uint8)
    thread, width = cuda.threadIdx.x, cuda.blockDim.x
    low = cuda.blockIdx.x * SEGMENT
    for i in range(thread, SEGMENT, width):
        crossed[i] = low + i == 0  # 1 is not a prime
    cuda.syncthreads()  # cleared before anything is crossed off
    for k in range(1, min(SHORT, small.size)):
        if small[k]:  # a short step: every thread takes its share
            step = 2 * k + 1
            i = first_in(low, step) + step * thread
            while i < SEGMENT:  # range() would divide first, to count its turns
                crossed[i] = 1
                i += step * width
    for k in range(SHORT + thread, small.size, width):
        if small[k]:  # a long step: one thread walks it alone
            step = 2 * k + 1
            i = first_in(low, step)
            while i < SEGMENT:
                crossed[i] = 1
                i += step
    cuda.syncthreads()  # crossed off before anything is copied
    for i in range(thread, min(SEGMENT, is_prime.size - low), width):
        is_prime[low + i] = crossed[i] == 0
