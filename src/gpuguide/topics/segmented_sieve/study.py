"""All primes below a limit in one launch: a bit for each odd number, and how many primes there are."""

from __future__ import annotations

from functools import lru_cache, partial
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.machine.device import DeviceInfo, current
from gpuguide.measure.buffers import first_difference
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, cupy_variant, end_to_end_variant
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.primes.reference import checked_limit, expected, small_primes
from gpuguide.topics.segmented_sieve.kernels import TABLE_BYTES, segment_plan, segmented_kernel
from gpuguide.topics.segmented_sieve.primesieve import (
    NO_PRIMESIEVE,
    THREADS,
    count_by_primesieve,
    count_by_primesieve_alone,
    primesieve,
    version,
)

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
COUNT_SIZES = (10**6, 10**9)
THREADS_PER_BLOCK = 1024


def n_words(limit: int) -> int:
    """Count the 32-bit words that have a bit for each odd number below a limit.

    >>> n_words(2), n_words(65), n_words(66), n_words(10**9)
    (1, 1, 2, 15625000)
    """
    return -(-(limit // 2) // 32)


def answer_spec(limit: int, dtype: Any = None) -> tuple[tuple[int], np.dtype[Any]]:
    """Return shape and dtype of an answer: the words, and a last one with the number of primes.

    >>> answer_spec(10**4)
    ((158,), dtype('uint32'))
    """
    return (n_words(limit) + 1,), np.dtype(np.uint32)


def primes_in_words(limit: int, on_gpu: bool = False) -> Any:
    """Pack the answer of a sieve with slices into words, and count.

    >>> primes_in_words(10).tolist()
    [14, 4]
    """
    is_prime = expected(limit, on_gpu)
    xp = array_module(is_prime)
    bits = xp.zeros(32 * n_words(limit), bool)
    bits[: is_prime.size] = is_prime
    answer = xp.empty(n_words(limit) + 1, xp.uint32)
    answer[:-1] = xp.packbits(bits, bitorder="little").view(xp.uint32)
    answer[-1] = int(is_prime.sum()) + (limit > 2)
    return answer


class WordsCheck:
    """Every bit and the number of primes equal those of a sieve with slices.

    >>> check = WordsCheck()
    >>> check.compare(np.array([14, 4], np.uint32), check.prepare((10,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> int:
        """Keep the limit."""
        (limit,) = inputs
        return int(limit)

    def right(self, limit: int) -> Any:
        """Return the right answer."""
        return primes_in_words(limit, has_gpu())

    def compare(self, output: Any, prepared: int) -> tuple[float, float]:
        """Compare bit for bit."""
        right = self.right(prepared)
        output = array_module(right).asarray(output)
        if output.shape != right.shape:
            raise MismatchError(
                f"The answer should have shape {right.shape}; it has {output.shape}."
            )
        at = first_difference(output, right)
        if at is None:
            return 0.0, 0.0
        got, wanted = int(output[at]), int(right[at])
        if at == len(right) - 1:
            raise MismatchError(
                f"It counts {got:,} primes below {prepared:,}; there are {wanted:,}."
            )
        # The lowest bit that differs.
        bit = ((got ^ wanted) & -(got ^ wanted)).bit_length() - 1
        number, verdict = 64 * at + 2 * bit + 1, "prime" if got >> bit & 1 else "not prime"
        raise MismatchError(f"It calls {number:,} {verdict}, which is wrong (word {at:,}).")


class CountCheck(WordsCheck):
    """The number of primes equals that of a sieve with slices.

    >>> check = CountCheck()
    >>> check.compare(np.array([25], np.uint32), check.prepare((100,)))
    (0.0, 0.0)
    """

    def right(self, limit: int) -> Any:
        """Return the right number of primes."""
        return super().right(limit)[-1:]


def primes_segmented(limit: int, out: Any, stretch: int = 12) -> None:
    """Sieve segments in shared memory, a block on each multiprocessor, and count the primes."""
    shape, dtype = answer_spec(checked_limit(limit))
    launch.check(out=out, shape=shape, dtype=dtype.name)
    # The blocks add to the last word, the number of primes.
    (out.data + 4 * n_words(limit)).memset_async(0, 4)
    if limit < 2:
        return
    blocks_per_grid, share, segment = segment_plan(limit, *multiprocessors_and_shared_bytes())
    segmented_kernel(stretch)(
        (blocks_per_grid,),
        (THREADS_PER_BLOCK,),
        (*map(np.int32, (limit, isqrt(limit - 1), share, segment)), out),
        shared_bytes=TABLE_BYTES + segment,
    )


def multiprocessors_and_shared_bytes() -> tuple[int, int]:
    """Count the multiprocessors of the GPU in use, and the shared bytes that a block can have."""
    return _of_device(int(cupy().cuda.runtime.getDevice()))


# Asked at each launch, so the driver's answer is kept.
@lru_cache(maxsize=16)
def _of_device(device_id: int) -> tuple[int, int]:
    info = current()
    return info.sm_count, info.shared_bytes_per_block_optin


def primes_with_copy(limit: int, out: np.ndarray) -> None:
    """Sieve by segments on the GPU, and copy the answer to the host."""
    out_device = cupy().empty(out.shape, np.uint32)
    primes_segmented(limit, out_device)
    out_device.get(out=out)


def count_segmented(limit: int, out: np.ndarray) -> None:
    """Sieve by segments on the GPU, and copy the number of primes to the host."""
    out_device = cupy().empty(n_words(limit) + 1, np.uint32)
    primes_segmented(limit, out_device)
    out_device[-1:].get(out=out)


def segmented_traffic(limit: int, dtype: Any) -> Traffic:
    """Count the bytes that must move: the answer is written once, and nothing has to be read."""
    return Traffic(bytes_read=0, bytes_written=4 * (n_words(limit) + 1))


def marks(limit: int) -> int:
    """Count the marks that threads set: multiples of primes from 29 on, without those of 2 and 3.

    >>> marks(29 * 29), marks(29 * 29 + 1)  # 5, 7, 11, 13, 17, 19, 23, 25 and 29 times 29
    (0, 9)
    """
    steps = small_primes(isqrt(max(limit - 1, 0)) + 1)
    steps = steps[steps > 23]
    largest = (limit - 1) // steps
    # 1 times a prime is not crossed off.
    return int(((largest + 5) // 6 + (largest + 1) // 6 - 1).sum())


def marks_per_second(device: DeviceInfo) -> float:
    """Return how many marks shared memory can take: one per bank, cycle and multiprocessor."""
    return 32.0 * device.sm_count * device.sm_clock_hz


def study(kernels: Kernels = None) -> Study:
    """Describe the segmented sieve, with lanes at other distances and with copies beside it."""
    declared: dict[str, Any] = {
        "traffic": segmented_traffic,
        "work": {"marks": marks},
        "work_ceilings": {"marks": marks_per_second},
    }
    return Study(
        name="segmented",
        title="All primes below a limit, as bits",
        variants=(
            cupy_variant("segmented", primes_segmented, "segmented sieve", **declared),
            *(
                cupy_variant(
                    f"stretch_{stretch}",
                    partial(primes_segmented, stretch=stretch),
                    f"stretches of {stretch}",
                    note=f"The same with lanes that walk {stretch} multiples at a time.",
                    **declared,
                )
                for stretch in (24, 36)
            ),
            end_to_end_variant("with_copy", primes_with_copy, "with a pageable copy"),
            end_to_end_variant(
                "with_copy_pinned", primes_with_copy, "with a pinned copy", arrays="pinned"
            ),
        ),
        sizes=SIZES,
        inputs=limit_input,
        check=WordsCheck(),
        output=answer_spec,
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself; for the exact check a smaller one with as many words",
        baseline="segmented",
        kernels=kernels,
    )


def count_study(kernels: Kernels = None) -> Study:
    """Describe how long the number of primes alone takes: primesieve on the CPU, and the GPU from the host.

    Where primesieve is not installed, its rows say so.
    """
    # No size of the study is as small, so every cell of these rows shows the reason.
    there: dict[str, Any] = {"max_size": 1, "max_size_reason": NO_PRIMESIEVE}
    which = ""
    if primesieve():
        there, which = {}, f" {version()}"
    return Study(
        name="count",
        title="The number of primes below a limit",
        variants=(
            cpu_variant(
                "primesieve_alone",
                count_by_primesieve_alone,
                "primesieve, one thread",
                note=f"Count with primesieve{which} on one thread.",
                **there,
            ),
            cpu_variant(
                "primesieve",
                count_by_primesieve,
                f"primesieve, {THREADS} threads",
                threads=THREADS,
                note=f"Count with primesieve{which} on all threads; it keeps no list.",
                **there,
            ),
            end_to_end_variant("segmented", count_segmented, "segmented sieve, pageable"),
            end_to_end_variant(
                "segmented_pinned",
                count_segmented,
                "segmented sieve, pinned",
                arrays="pinned",
            ),
        ),
        sizes=COUNT_SIZES,
        inputs=limit_input,
        check=CountCheck(),
        output=lambda n, dtype: ((1,), np.dtype(np.uint32)),
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself; for the exact check a smaller one with as many words",
        baseline="segmented",
        kernels=kernels,
    )


def limit_input(n: int, dtype: Any, rng: np.random.Generator, exact: bool) -> tuple[int]:
    """Make the input of a study: the limit; for the exact check a smaller one whose answer is as long.

    >>> limit_input(10**6, "int32", np.random.default_rng(0), exact=False)
    (1000000,)
    """
    if not exact or n < 2:
        return (n,)
    least = 64 * (n_words(n) - 1) + 2
    return (int(rng.integers(least, n + 1)),)
