"""primesieve by Kim Walisch, the best known sieve for CPUs, where it is installed."""

from __future__ import annotations

import ctypes
import os
from ctypes.util import find_library
from functools import lru_cache
from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.errors import BackendError

THREADS = int(get_num_threads())
NO_PRIMESIEVE = "primesieve is not installed; on Debian: apt install libprimesieve-dev"


@lru_cache(maxsize=1)
def primesieve() -> Any:
    """Load the library: the file that GPUGUIDE_PRIMESIEVE names, else what is installed.

    None where there is neither.

    >>> library = primesieve()
    >>> library is None or library.primesieve_count_primes(0, 100) == 25
    True
    """
    path = os.environ.get("GPUGUIDE_PRIMESIEVE") or find_library("primesieve")
    if path is None:
        return None
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise BackendError(
            f"GPUGUIDE_PRIMESIEVE should name a library of primesieve that this machine can load; {error}. "
            "Unset it to go without."
        ) from None
    library.primesieve_version.restype = ctypes.c_char_p
    library.primesieve_count_primes.argtypes = (ctypes.c_uint64, ctypes.c_uint64)
    library.primesieve_count_primes.restype = ctypes.c_uint64
    library.primesieve_set_num_threads.argtypes = (ctypes.c_int,)
    return library


def count_by_primesieve(limit: int, out: np.ndarray) -> None:
    """Count with primesieve on all threads; it keeps no list."""
    out[0] = on_threads(THREADS).primesieve_count_primes(0, limit - 1)


def count_by_primesieve_alone(limit: int, out: np.ndarray) -> None:
    """Count with primesieve on one thread."""
    out[0] = on_threads(1).primesieve_count_primes(0, limit - 1)


def version() -> str:
    """Return which primesieve it is, such as ``"11.0"``; ``""`` where there is none."""
    library = primesieve()
    return "" if library is None else library.primesieve_version().decode()


def on_threads(threads: int) -> Any:
    """Return the library, set to so many threads."""
    library = primesieve()
    if library is None:
        raise BackendError(f"{NO_PRIMESIEVE}.")
    library.primesieve_set_num_threads(threads)
    return library
