"""Kernels of the search for primes in Numba: trial division and two sieves.

The last rung, in CUDA C++, is in `kernels_segmented`; what runs on the CPU is in `kernels_cpu`.
"""

from functools import cache

import numpy as np
from numba import cuda

SEGMENT = 32_768
SHORT_STEPS = 128
"""That many steps are walked by all threads of a block together; each longer one has a thread of its own."""


@cuda.jit
def check_prime_kernel(number, result):
    """Try all divisors of a single number in a single thread."""
    result[0] = 0
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            break
    else:
        result[0] = number


def check_prime(number):
    """Return the number if it is prime, and 0 if it is not: 0 and 1 are none."""
    if number < 2:
        return 0
    for j in range(2, number // 2 + 1):
        if number % j == 0:
            return 0
    return number


@cache
def check_prime_ufunc():
    """Return `check_prime` as a ufunc that runs on the GPU, compiled once."""
    from numba import int32, vectorize

    return vectorize([int32(int32)], target="cuda")(check_prime)


check_prime_device = cuda.jit(check_prime, device=True)


@cuda.jit(device=True)
def note_prime(number, out):
    """Set the bit of a prime and count it, atomically: others do so in the same word."""
    cuda.atomic.add(out, out.size - 1, 1)
    if number > 2:
        cuda.atomic.or_(out, number >> 6, np.uint32(1 << ((number >> 1) & 31)))


@cuda.jit
def clear_kernel(out):
    """Each thread clears one word."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0


@cuda.jit
def thread_a_number_kernel(limit, out):
    """Each thread tries all divisors of its own number."""
    number = cuda.grid(1)
    if number < limit and check_prime_device(number) > 0:
        note_prime(number, out)


@cuda.jit
def odd_candidates_kernel(limit, out):
    """Each thread tries the odd divisors of its own odd number; 2 is taken for granted."""
    i = cuda.grid(1)
    number = 2 * i + 1
    if i == 0 and limit > 2:
        note_prime(2, out)
    if 1 < number < limit:
        for j in range(3, number // 2 + 1, 2):
            if number % j == 0:
                return
        note_prime(number, out)


@cuda.jit
def to_square_root_kernel(limit, out):
    """Each thread stops at the square root: a larger divisor has a smaller partner."""
    i = cuda.grid(1)
    number = 2 * i + 1
    if i == 0 and limit > 2:
        note_prime(2, out)
    if 1 < number < limit:
        j = 3
        while j * j <= number:
            if number % j == 0:
                return
            j += 2
        note_prime(number, out)


@cuda.jit
def all_odd_kernel(limit, out):
    """Each thread fills one word: every odd number from 3 up to the limit may be a prime."""
    word = cuda.grid(1)
    if word < out.size - 1:
        left = min(limit // 2 - 32 * word, 32)  # bits of this word that stand for numbers
        out[word] = ((1 << left) - 1) & (-2 if word == 0 else -1)


@cuda.jit
def cross_off_kernel(limit, out):
    """Each row of blocks crosses off the multiples of an odd number that still stands."""
    step = 2 * cuda.blockIdx.x + 3
    # If another block crosses it off only later, this work is wasted, but does no harm.
    if out[step >> 6] >> ((step >> 1) & 31) & 1 == 0:
        return
    first = cuda.threadIdx.x + cuda.blockIdx.y * cuda.blockDim.x
    stride = cuda.blockDim.x * cuda.gridDim.y
    for i in range((step * step >> 1) + step * first, limit // 2, step * stride):
        cuda.atomic.and_(out, i >> 5, np.uint32(0xFFFFFFFF ^ (1 << (i & 31))))


@cuda.jit
def start_count_kernel(limit, out):
    """One thread sets the number of primes to what the bits leave out: 2."""
    out[out.size - 1] = 1 if limit > 2 else 0


@cuda.jit
def count_kernel(out):
    """Each thread counts the bits of some words, and adds them to the number of primes."""
    found = 0
    for word in range(cuda.grid(1), out.size - 1, cuda.gridsize(1)):
        found += cuda.popc(out[word])
    cuda.atomic.add(out, out.size - 1, found)


@cuda.jit(device=True)
def first_multiple(step, low):
    """Find where a step first lands in a segment; it need not begin below its own square."""
    first = (step * step >> 1) - low
    return first if first >= 0 else first % step


@cuda.jit(device=True)
def packed_word(crossed, word, left):
    """Make a word of 32 bytes; each thread begins with another, for another bank."""
    bits = 0
    for k in range(32):
        bit = (k + cuda.threadIdx.x) & 31
        if bit < left and crossed[32 * word + bit] == 0:
            bits |= 1 << bit
    return bits


@cuda.jit
def segment_kernel(limit, n_steps, steps_known, out):
    """Each block sieves its own segment: a byte for each odd number, in shared memory."""
    crossed = cuda.shared.array(SEGMENT, np.uint8)
    thread, width = cuda.threadIdx.x, cuda.blockDim.x
    low = cuda.blockIdx.x * SEGMENT
    for i in range(thread, SEGMENT, width):
        crossed[i] = 1 if low + i == 0 else 0  # 1 is no prime
    cuda.syncthreads()  # all bytes are cleared before one is set
    for k in range(1, min(n_steps, SHORT_STEPS) + 1):
        if not steps_known or out[k >> 5] >> (k & 31) & 1:
            step = 2 * k + 1
            i = first_multiple(step, low) + step * thread
            while i < SEGMENT:
                crossed[i] = 1  # several threads may write it: all write the same
                i += step * width
    for k in range(SHORT_STEPS + 1 + thread, n_steps + 1, width):
        if not steps_known or out[k >> 5] >> (k & 31) & 1:
            step = 2 * k + 1
            i = first_multiple(step, low)
            while i < SEGMENT:
                crossed[i] = 1
                i += step
    cuda.syncthreads()  # all steps are done before bytes become bits
    for word in range(thread, SEGMENT // 32, width):
        left = limit // 2 - low - 32 * word
        if left > 0:
            out[(low >> 5) + word] = packed_word(crossed, word, left)
