"""All primes below a limit: from trial division in Python to a sieve in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, cupy_variant, end_to_end_variant, kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.primes.bits import (
    PrimesCheck,
    answer_spec,
    checked_limit,
    n_words,
    primes_traffic,
)
from gpuguide.topics.primes.cpu import (
    NO_PRIMESIEVE,
    THREADS,
    count_by_primesieve,
    count_by_primesieve_alone,
    primes_cpu,
    primesieve,
    version,
)
from gpuguide.topics.primes.segmented import primes_segmented
from gpuguide.topics.primes.sieve import primes_sieve_global, primes_sieve_shared
from gpuguide.topics.primes.trial import (
    primes_njit,
    primes_odd_candidates,
    primes_one_launch,
    primes_python,
    primes_thread_a_number,
    primes_to_square_root,
    primes_ufunc,
)

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
COUNT_SIZES = (10**6, 10**9)
SQUARE = "left out: the work of trial division up to half of each number grows with the square of the limit"
ROOT = (
    "left out: the work of trial division up to the root grows with the limit to the power 3/2"
)
LAUNCHES = "left out: it would be a hundred thousand launches and more"


def primes_with_copy(limit: int, out: np.ndarray) -> None:
    """Sieve by segments on the GPU, and copy the answer to the host."""
    checked_limit(limit, out)
    out_device = cupy().empty(out.shape, np.uint32)
    primes_segmented(limit, out_device)
    out_device.get(out=out)


def count_segmented(limit: int, out: np.ndarray) -> None:
    """Sieve by segments on the GPU, and copy the number of primes to the host."""
    out_device = cupy().empty(n_words(limit) + 1, np.uint32)
    primes_segmented(limit, out_device)
    out_device[-1:].get(out=out)


class CountCheck(PrimesCheck):
    """The number of primes equals that of a sieve with slices.

    >>> check = CountCheck()
    >>> check.compare(np.array([25], np.uint32), check.prepare((100,)))
    (0.0, 0.0)
    """

    def expected(self, limit: int) -> Any:
        """Return the right number of primes."""
        return super().expected(limit)[-1:]


def study(kernels: Kernels = None) -> Study:
    """Describe the ladder from a loop in Python to a sieve in shared memory, with the CPU's best beside it.

    Thirteen variants for limits of 10**3 to 10**9, each as far as it can go.
    """
    words: dict[str, Any] = {"traffic": primes_traffic}

    def to(max_size: int, reason: str) -> dict[str, Any]:
        return {"max_size": max_size, "max_size_reason": reason}

    return Study(
        name="primes",
        title="All primes below a limit",
        variants=(
            cpu_variant("python", primes_python, "Python", **to(10**4, SQUARE)),
            cpu_variant("njit", primes_njit, "njit", **to(10**5, SQUARE)),
            end_to_end_variant(
                "one_launch", primes_one_launch, "a launch a number", **to(10**4, LAUNCHES)
            ),
            end_to_end_variant("ufunc", primes_ufunc, "ufunc, pageable", **to(10**6, SQUARE)),
            kernel_variant(
                "thread_a_number",
                primes_thread_a_number,
                "a thread a number",
                **words,
                **to(10**6, SQUARE),
            ),
            kernel_variant(
                "odd_candidates",
                primes_odd_candidates,
                "odd candidates",
                **words,
                **to(10**6, SQUARE),
            ),
            kernel_variant(
                "to_square_root",
                primes_to_square_root,
                "to the square root",
                **words,
                **to(10**7, ROOT),
            ),
            kernel_variant(
                "sieve_global", primes_sieve_global, "sieve in global memory", **words
            ),
            kernel_variant(
                "sieve_shared", primes_sieve_shared, "sieve in shared memory", **words
            ),
            cupy_variant("segmented", primes_segmented, "segmented sieve", **words),
            end_to_end_variant("with_copy", primes_with_copy, "segmented, pageable copy"),
            end_to_end_variant(
                "with_copy_pinned", primes_with_copy, "segmented, pinned copy", arrays="pinned"
            ),
            cpu_variant("cpu_sieve", primes_cpu, "CPU sieve", threads=THREADS),
        ),
        sizes=SIZES,
        inputs=limit_input,
        check=PrimesCheck(),
        output=answer_spec,
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself; for the exact check a smaller one with as many words",
        baseline="cpu_sieve",
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
                "primesieve",
                count_by_primesieve,
                "primesieve, all threads",
                threads=THREADS,
                note=f"Count with primesieve{which} on all threads; it keeps no list.",
                **there,
            ),
            cpu_variant(
                "primesieve_alone",
                count_by_primesieve_alone,
                "primesieve, one thread",
                note=f"Count with primesieve{which} on one thread.",
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
