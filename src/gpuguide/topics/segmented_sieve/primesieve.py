"""primesieve by Kim Walisch, the best known sieve for CPUs, where it is installed."""

import ctypes
import os
from ctypes.util import find_library
from functools import cache

from numba import get_num_threads

from gpuguide.errors import BackendError

THREADS = int(get_num_threads())


@cache
def library():
    """Load the library: the file that GPUGUIDE_PRIMESIEVE names, else what is installed, else None."""
    path = os.environ.get("GPUGUIDE_PRIMESIEVE") or find_library("primesieve")
    if path is None:
        return None
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise BackendError(
            f"GPUGUIDE_PRIMESIEVE should name a library of primesieve that this machine can load; {error}. "
            "Unset it to go without."
        ) from None
    loaded.primesieve_version.restype = ctypes.c_char_p
    loaded.primesieve_count_primes.argtypes = (ctypes.c_uint64, ctypes.c_uint64)
    loaded.primesieve_count_primes.restype = ctypes.c_uint64
    loaded.primesieve_set_num_threads.argtypes = (ctypes.c_int,)
    return loaded


def missing():
    """Say what to install, where there is no primesieve."""
    return (
        ""
        if library()
        else "primesieve is not installed; on Debian: apt install libprimesieve-dev"
    )


def which():
    """Name the library with its version, where there is one."""
    return (
        f"primesieve {library().primesieve_version().decode()}" if library() else "primesieve"
    )


def primesieve_alone(limit, out):
    """Count with primesieve on one thread."""
    library().primesieve_set_num_threads(1)
    out[0] = library().primesieve_count_primes(0, limit - 1)


def primesieve(limit, out):
    """Count with primesieve on all threads; it keeps no list."""
    library().primesieve_set_num_threads(THREADS)
    out[0] = library().primesieve_count_primes(0, limit - 1)
