"""What the compiler costs: functions compiled anew for each call, loaded from disk, or compiled before."""

from contextlib import contextmanager

import numpy as np
from numba import config, cuda, njit, vectorize

from gpuguide.measure import Study, cp, cpu, end_to_end, uniform, whole_numbers
from gpuguide.topics.compile_cost.kernels import compiled_loops, larger_loops
from gpuguide.topics.first_call.study import cache_folder
from gpuguide.topics.grids_2d_3d.boxes_3d import box_shape
from gpuguide.topics.grids_2d_3d.kernels import maximum_fast_kernel
from gpuguide.topics.primes.kernels_cpu import compiled_find_primes, find_primes
from gpuguide.topics.primes.reference import small_primes
from gpuguide.topics.ufuncs.functions import SIGNATURES, larger


def later(a, b, out):
    """Call what was compiled before."""
    compiled_loops()(a, b, out)


def compile_njit(a, b, out):
    """Compile with @njit, and call once."""
    njit(larger_loops)(a, b, out)


def compile_vectorize(a, b, out):
    """Make a ufunc without a signature, and call it once: that compiles it."""
    vectorize(larger)(a, b, out)


def compile_signature(a, b, out):
    """Make a ufunc with a signature, which compiles it, and call it once."""
    vectorize(SIGNATURES)(larger)(a, b, out)


def cached(a, b, out):
    """Read the loops from the cache on disk, where the first such call puts them, and call."""
    with caching_in(cache_folder()):
        loops = njit(cache=True)(larger_loops)
    loops(a, b, out)


@contextmanager
def caching_in(folder):
    """Let functions that are decorated meanwhile keep their code in a folder."""
    before = vars(config)["CACHE_DIR"]
    vars(config)["CACHE_DIR"] = folder
    try:
        yield
    finally:
        vars(config)["CACHE_DIR"] = before


def compile_kernel(a_host, b_host, out_host):
    """Compile a CUDA kernel with @cuda.jit, launch it once, pageable copies included."""
    a, b, out = (cp.asarray(x) for x in (a_host, b_host, out_host))
    d, h, w = out_host.shape
    compiled = cuda.jit(maximum_fast_kernel.py_func)  # another one than the one compiled before
    compiled[(-(-w // 32), -(-h // 8), d), (32, 8, 1)](a, b, out)
    out.get(out=out_host)


def boxes(n, dtype, rng, exact):
    def box():
        values = whole_numbers(rng, n, 2**24, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return box(), box()


compiling = Study(
    name="compiling",
    title="Compile a function and call it once",
    sizes=(32**3,),
    inputs=boxes,
    input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
    reference=np.maximum,
    equal=True,
    small=(0, 5 * 6 * 7),
    baseline="njit",
    variants=(
        cpu(larger_loops, "Python loop", name="python"),
        cpu(later, "later call"),
        cpu(cached, "njit, cached"),
        cpu(compile_njit, "njit", name="njit"),
        cpu(compile_vectorize, "vectorize", name="vectorize"),
        cpu(compile_signature, "vectorize, signature", name="signature"),
        # No pinned variant: what is timed is the compiler, and the arrays are small.
        end_to_end(compile_kernel, "cuda.jit, pageable copies", name="kernel"),
    ),
)


def primes_python(upper):
    """Search in Python."""
    return np.array(find_primes(upper), np.int64)


def primes_njit(upper):
    """Search with what @njit compiled before."""
    return np.array(compiled_find_primes()(upper), np.int64)


primes = Study(
    name="primes",
    title="All primes below a number",
    sizes=(10, 30, 100, 1000, 3000, 10_000),
    size_name="numbers",
    dtype="int64",
    inputs=lambda n, dtype, rng, exact: (n,),
    input_note="the number below which primes are searched for",
    reference=small_primes,
    output=lambda n, dtype: (small_primes(n).shape, dtype),
    small=(0, 1, 2, 3, 4, 31, 1009),
    baseline="python",
    variants=(
        cpu(primes_python, "Python", name="python", allocates=True),
        cpu(primes_njit, "njit", name="njit", allocates=True),
    ),
)
