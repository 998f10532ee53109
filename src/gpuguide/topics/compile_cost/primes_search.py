"""All primes below a number, in Python and compiled before the clock starts."""

from __future__ import annotations

import numpy as np

from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant
from gpuguide.measure.study import Study
from gpuguide.topics.primes.kernels_cpu import compiled_find_primes, find_primes
from gpuguide.topics.primes.reference import small_primes

SIZES = (10, 30, 100, 1000, 3000, 10_000)


def primes_python(upper: int) -> np.ndarray:
    """Search in Python.

    >>> primes_python(12).tolist()
    [2, 3, 5, 7, 11]
    """
    return np.array(find_primes(upper), np.int64)


def primes_njit(upper: int) -> np.ndarray:
    """Search with what @njit compiled before.

    >>> primes_njit(12).tolist()
    [2, 3, 5, 7, 11]
    """
    return np.array(compiled_find_primes()(upper), np.int64)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a search in Python with one that was compiled before."""
    return Study(
        name="primes",
        title="All primes below a number",
        variants=(
            cpu_variant("python", primes_python, "Python", allocates=True),
            cpu_variant("njit", primes_njit, "njit", allocates=True),
        ),
        sizes=SIZES,
        inputs=lambda n, dtype, rng, exact: (n,),
        reference=small_primes,
        output=lambda n, dtype: (small_primes(n).shape, dtype),
        dtype="int64",
        size_name="numbers",
        input_note="the number below which primes are searched for",
        baseline="python",
        kernels=kernels,
    )
