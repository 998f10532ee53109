"""One kernel of CuPy's, by where its code comes from: compiled anew, read from disk, or still in memory."""

import atexit
import os
from contextlib import contextmanager
from functools import cache
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp

from gpuguide.measure import Study, cp, end_to_end, uniform, whole_numbers

remarks = count()


def compiled(x, out):
    """Make a kernel whose code is new, so that NVRTC compiles it, and call it."""
    with caching_in(cache_folder()):
        kernel = twice(next(remarks))
        kernel(cp.asarray(x), cp.asarray(out))


def from_disk(x, out):
    """Make CuPy forget its kernels, so that it reads this one from disk, and call it."""
    with caching_in(cache_folder()):
        cp.clear_memo()
        kernel = twice("the same")
        kernel(cp.asarray(x), cp.asarray(out))


def in_memory(x, out):
    """Call a kernel that was called before."""
    kernel_in_memory()(cp.asarray(x), cp.asarray(out))


def twice(remark):
    """Return a kernel of CuPy's that doubles numbers; another remark makes it other code."""
    return cp.ElementwiseKernel(
        "float32 x", "float32 out", f"out = 2 * x /* {remark} */", "twice"
    )


@cache
def kernel_in_memory():
    """Return a kernel, the same each time."""
    return twice("kept")


@cache
def cache_folder():
    """Return a folder for compiled code, of this process alone."""
    folder = mkdtemp(prefix="gpuguide-cache-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def caching_in(folder):
    """Let CuPy keep compiled kernels in a folder meanwhile."""
    before = os.environ.get("CUPY_CACHE_DIR")
    os.environ["CUPY_CACHE_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUPY_CACHE_DIR"]
        else:
            os.environ["CUPY_CACHE_DIR"] = before


def inputs(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 2**23, dtype) if exact else uniform(rng, n, dtype),)


kernel = Study(
    name="kernel",
    title="One call of a short kernel, by where its code comes from",
    sizes=(512**2,),
    inputs=inputs,
    input_note="uniform random numbers; whole numbers below 2**23 for the exact check",
    reference=lambda x: 2 * x,
    equal=True,
    small=(),  # all of them are CuPy's
    baseline="compiled",
    # From the call until the GPU is done; the numbers are there already.
    variants=(
        end_to_end(compiled, "compiled", arrays="numba"),
        end_to_end(from_disk, "from disk", arrays="numba"),
        end_to_end(in_memory, "in memory", arrays="numba"),
    ),
)
