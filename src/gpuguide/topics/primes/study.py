"""All primes below a limit: from trial division in Python to a sieve in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.measure.plan import Variant
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
    """Sieve by segments on the GPU, and copy the answer to the host.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        In host memory; filled.

    Raises
    ------
    ArgumentError
        The limit is out of range, or the array does not fit it.
    BackendError
        CuPy is missing.
    """
    checked_limit(limit, out)
    out_device = cupy().empty(out.shape, np.uint32)
    primes_segmented(limit, out_device)
    out_device.get(out=out)


def count_segmented(limit: int, out: np.ndarray) -> None:
    """Sieve by segments on the GPU, and copy the number of primes to the host.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (1,)
        In host memory: how many primes there are.

    Raises
    ------
    BackendError
        CuPy is missing.
    """
    out_device = cupy().empty(n_words(limit) + 1, np.uint32)
    primes_segmented(limit, out_device)
    out_device[-1:].get(out=out)


class CountCheck(PrimesCheck):
    """The number of primes equals that of a sieve with slices.

    Examples
    --------
    >>> check = CountCheck()
    >>> check.compare(np.array([25], np.uint32), check.prepare((100,)))
    (0.0, 0.0)
    """

    def expected(self, limit: int) -> Any:
        """Return the right number of primes.

        Parameters
        ----------
        limit : int
            At least 0.

        Returns
        -------
        array of uint32, shape (1,)
            Where the check runs.
        """
        return super().expected(limit)[-1:]


def study() -> Study:
    """Describe the ladder from a loop in Python to a sieve in shared memory, with the CPU's best beside it.

    Returns
    -------
    Study
        Twelve variants for limits of 10**3 to 10**9, each as far as it can go.

    Examples
    --------
    >>> 10**9 in study().sizes
    True
    """
    return Study(
        name="primes",
        title="All primes below a limit",
        variants=(
            _on_host("python", primes_python, "Python", max_size=10**4, max_size_reason=SQUARE),
            _on_host("njit", primes_njit, "njit", max_size=10**5, max_size_reason=SQUARE),
            _from_host("one_launch", primes_one_launch, "a launch a number", 10**4, LAUNCHES),
            _from_host("ufunc", primes_ufunc, "ufunc", 10**6, SQUARE),
            _kernel(
                "thread_a_number", primes_thread_a_number, "a thread a number", 10**6, SQUARE
            ),
            _kernel("odd_candidates", primes_odd_candidates, "odd candidates", 10**6, SQUARE),
            _kernel("to_square_root", primes_to_square_root, "to the square root", 10**7, ROOT),
            _kernel("sieve_global", primes_sieve_global, "sieve in global memory"),
            _kernel("sieve_shared", primes_sieve_shared, "sieve in shared memory"),
            Variant(
                "segmented",
                primes_segmented,
                label="segmented sieve",
                simulatable=False,
                traffic=primes_traffic,
            ),
            _from_host("with_copy", primes_with_copy, "segmented, with copy"),
            _on_host("cpu_sieve", primes_cpu, "CPU sieve", threads=THREADS),
        ),
        sizes=SIZES,
        inputs=limit_input,
        check=PrimesCheck(),
        output=answer_spec,
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself; for the exact check a smaller one with as many words",
        baseline="cpu_sieve",
    )


def count_study() -> Study:
    """Describe how long the number of primes alone takes: primesieve on the CPU, and the GPU from the host.

    Returns
    -------
    Study
        Three variants, for 10**6 and 10**9.

    Examples
    --------
    >>> count_study().names
    ('primesieve', 'primesieve_alone', 'segmented')
    """
    there: dict[str, Any] = (
        {} if primesieve() else {"max_size": 1, "max_size_reason": NO_PRIMESIEVE}
    )
    return Study(
        name="count",
        title="The number of primes below a limit",
        variants=(
            _on_host("primesieve", count_by_primesieve, "primesieve", threads=THREADS, **there),
            _on_host(
                "primesieve_alone", count_by_primesieve_alone, "primesieve, one thread", **there
            ),
            _from_host("segmented", count_segmented, "segmented sieve"),
        ),
        sizes=COUNT_SIZES,
        inputs=limit_input,
        check=CountCheck(),
        output=lambda n, dtype: ((1,), np.dtype(np.uint32)),
        dtype="int32",
        size_name="numbers",
        input_note="the limit itself; for the exact check a smaller one with as many words",
        baseline="segmented",
    )


def limit_input(n: int, dtype: Any, rng: np.random.Generator, exact: bool) -> tuple[int]:
    """Make the input of a study: the limit; for the exact check a smaller one whose answer is as long.

    Parameters
    ----------
    n : int
        The size.
    dtype : dtype
        Makes no difference.
    rng : numpy.random.Generator
        Chooses the smaller one.
    exact : bool
        Whether it is for the exact check.

    Returns
    -------
    tuple of int
        The limit.

    Examples
    --------
    >>> limit_input(10**6, "int32", np.random.default_rng(0), exact=False)
    (1000000,)
    """
    if not exact or n < 2:
        return (n,)
    least = 64 * (n_words(n) - 1) + 2
    return (int(rng.integers(least, n + 1)),)


def _on_host(
    name: str, call: Callable[..., None], label: str, threads: int = 1, **options: Any
) -> Variant:
    return Variant(
        name, call, label=label, device="cpu", clock="host", threads=threads, **options
    )


def _from_host(
    name: str,
    call: Callable[..., None],
    label: str,
    max_size: int | None = None,
    max_size_reason: str = "",
) -> Variant:
    return Variant(
        name,
        call,
        label=label,
        clock="end_to_end",
        simulatable=False,
        max_size=max_size,
        max_size_reason=max_size_reason,
    )


def _kernel(
    name: str,
    call: Callable[..., None],
    label: str,
    max_size: int | None = None,
    max_size_reason: str = "",
) -> Variant:
    return Variant(
        name,
        call,
        label=label,
        arrays="numba",
        traffic=primes_traffic,
        max_size=max_size,
        max_size_reason=max_size_reason,
    )
