"""All primes below a limit in one launch: a bit for each odd number, and how many primes there are."""

from functools import cache, partial
from math import isqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, has_gpu
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu
from gpuguide.measure.buffers import first_difference
from gpuguide.results.records import Traffic
from gpuguide.topics.primes.reference import expected, small_primes
from gpuguide.topics.segmented_sieve import primesieve
from gpuguide.topics.segmented_sieve.kernels import TABLE_BYTES, segment_plan, segmented_kernels

BLOCK = 1024


def n_words(limit):
    """Count the 32-bit words that have a bit for each odd number below a limit."""
    return -(-(limit // 2) // 32)


def primes_segmented(limit, out, stretch=12):
    """Sieve segments in shared memory, a block on each multiprocessor, and count the primes."""
    # The blocks add to the last word, the number of primes.
    (out.data + 4 * n_words(limit)).memset_async(0, 4)
    if limit < 2:
        return
    blocks_per_grid, share, segment = segment_plan(limit, *limits(cp.cuda.runtime.getDevice()))
    segmented_kernels[stretch](
        (blocks_per_grid,),
        (BLOCK,),
        (*map(np.int32, (limit, isqrt(limit - 1), share, segment)), out),
        shared_bytes=TABLE_BYTES + segment,
    )


# Asked at each launch, so the driver's answer is kept.
@cache
def limits(device):
    """Return the multiprocessors of a GPU, and the shared bytes that a block can have."""
    attributes = cp.cuda.Device(device).attributes
    return attributes["MultiProcessorCount"], attributes["MaxSharedMemoryPerBlockOptin"]


def primes_with_copy(limit, out):
    """Sieve by segments on the GPU, and copy the answer to the host."""
    out_device = cp.empty(out.shape, np.uint32)
    primes_segmented(limit, out_device)
    out_device.get(out=out)


def count_segmented(limit, out):
    """Sieve by segments on the GPU, and copy the number of primes to the host."""
    out_device = cp.empty(n_words(limit) + 1, np.uint32)
    primes_segmented(limit, out_device)
    out_device[-1:].get(out=out)


def marks(limit):
    """Count the marks that threads set: multiples of primes from 29 on, without those of 2 and 3."""
    steps = small_primes(isqrt(max(limit - 1, 0)) + 1)
    steps = steps[steps > 23]
    largest = (limit - 1) // steps
    # 1 times a prime is not crossed off.
    return int(((largest + 5) // 6 + (largest + 1) // 6 - 1).sum())


def marks_per_second(device):
    """Return how many marks shared memory can take: one per bank, cycle and multiprocessor."""
    return 32.0 * device.sm_count * device.sm_clock_hz


def primes_in_words(limit, on_gpu=False):
    """Pack the answer of a sieve with slices into words, and count."""
    is_prime = expected(limit, on_gpu)
    xp = array_module(is_prime)
    bits = xp.zeros(32 * n_words(limit), bool)
    bits[: is_prime.size] = is_prime
    answer = xp.empty(n_words(limit) + 1, xp.uint32)
    answer[:-1] = xp.packbits(bits, bitorder="little").view(xp.uint32)
    answer[-1] = int(is_prime.sum()) + (limit > 2)
    return answer


class WordsCheck:
    """Every bit and the number of primes equal those of a sieve with slices."""

    words = slice(None)

    def prepare(self, inputs):
        return int(inputs[0])

    def compare(self, output, prepared):
        right = primes_in_words(prepared, has_gpu())[self.words]
        output = array_module(right).asarray(output)
        at = first_difference(output, right)
        if at is None:
            return 0.0, 0.0
        got, answer = int(output[at]), int(right[at])
        if at == len(right) - 1:
            raise MismatchError(
                f"It counts {got:,} primes below {prepared:,}; there are {answer:,}."
            )
        # The lowest bit that differs.
        bit = ((got ^ answer) & -(got ^ answer)).bit_length() - 1
        number, verdict = 64 * at + 2 * bit + 1, "prime" if got >> bit & 1 else "not prime"
        raise MismatchError(f"It calls {number:,} {verdict}, which is wrong (word {at:,}).")


class CountCheck(WordsCheck):
    """The number of primes equals that of a sieve with slices."""

    words = slice(-1, None)


def inputs(n, dtype, rng, exact):
    """Make the limit; for the exact check a smaller one whose answer is as long."""
    return (int(rng.integers(64 * (n_words(n) - 1) + 2, n + 1)) if exact and n >= 2 else n,)


common = {
    "inputs": inputs,
    "dtype": "int32",
    "size_name": "numbers",
    "input_note": "the limit itself; for the exact check a smaller one with as many words",
    "small": (),
    "baseline": "segmented",
}
marking = {"work": {"marks": marks}, "work_ceilings": {"marks": marks_per_second}}

segmented = Study(
    name="segmented",
    title="All primes below a limit, as bits",
    sizes=(10**4, 10**5, 10**6, 10**7, 10**8, 10**9),
    check=WordsCheck(),
    answer=primes_in_words,
    output=lambda n, dtype: ((n_words(n) + 1,), np.uint32),
    # The answer is written once, and nothing has to be read.
    traffic=lambda n, dtype: Traffic(bytes_read=0, bytes_written=4 * (n_words(n) + 1)),
    variants=(
        gpu(primes_segmented, "segmented sieve", name="segmented", **marking),
        *(
            gpu(
                partial(primes_segmented, stretch=stretch),
                f"stretches of {stretch}",
                name=f"stretch_{stretch}",
                note=f"The same with lanes that walk {stretch} multiples at a time.",
                **marking,
            )
            for stretch in (24, 36)
        ),
        end_to_end(primes_with_copy, "with a pageable copy", name="with_copy"),
        end_to_end(
            primes_with_copy, "with a pinned copy", name="with_copy_pinned", arrays="pinned"
        ),
    ),
    **common,
)

count = Study(
    name="count",
    title="The number of primes below a limit",
    sizes=(10**6, 10**9),
    check=CountCheck(),
    output=lambda n, dtype: ((1,), np.uint32),
    variants=(
        cpu(
            primesieve.primesieve_alone,
            "primesieve, one thread",
            note=f"Count with {primesieve.which()} on one thread.",
            missing=primesieve.missing,
        ),
        cpu(
            primesieve.primesieve,
            f"primesieve, {primesieve.THREADS} threads",
            primesieve.THREADS,
            note=f"Count with {primesieve.which()} on all threads; it keeps no list.",
            missing=primesieve.missing,
        ),
        end_to_end(count_segmented, "segmented sieve, pageable", name="segmented"),
        end_to_end(
            count_segmented, "segmented sieve, pinned", name="segmented_pinned", arrays="pinned"
        ),
    ),
    **common,
)
