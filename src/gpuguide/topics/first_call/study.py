"""One kernel of CuPy's, by where its code comes from: compiled anew, read from disk, or still in memory."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study

SIZE = 512**2
remarks = count()


def doubled_reference(x: Any) -> Any:
    """Return ``2 * x``."""
    return 2 * x


def compiled(x: Any, out: Any) -> None:
    """Make a kernel whose code is new, so that NVRTC compiles it, and call it."""
    if launch.check(x=x, out=out, ndim=1, dtype="float32"):
        with caching_in(cache_folder()):
            kernel = twice(next(remarks))
            kernel(cupy().asarray(x), cupy().asarray(out))


def from_disk(x: Any, out: Any) -> None:
    """Make CuPy forget its kernels, so that it reads this one from disk, and call it."""
    if launch.check(x=x, out=out, ndim=1, dtype="float32"):
        with caching_in(cache_folder()):
            cupy().clear_memo()
            kernel = twice("the same")
            kernel(cupy().asarray(x), cupy().asarray(out))


def in_memory(x: Any, out: Any) -> None:
    """Call a kernel that was called before."""
    if launch.check(x=x, out=out, ndim=1, dtype="float32"):
        kernel_in_memory()(cupy().asarray(x), cupy().asarray(out))


def twice(remark: object) -> Any:
    """Return a kernel of CuPy's that doubles numbers; another remark makes it other code."""
    return cupy().ElementwiseKernel(
        "float32 x", "float32 out", f"out = 2 * x /* {remark} */", "twice"
    )


@cache
def kernel_in_memory() -> Any:
    """Return a kernel, the same each time."""
    return twice("kept")


@cache
def cache_folder() -> str:
    """Return a folder for compiled kernels, of this process alone.

    >>> cache_folder() == cache_folder()
    True
    """
    folder = mkdtemp(prefix="gpuguide-cache-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def caching_in(folder: str) -> Iterator[None]:
    """Let CuPy keep compiled kernels in a folder meanwhile.

    >>> with caching_in("elsewhere"):
    ...     os.environ["CUPY_CACHE_DIR"]
    'elsewhere'
    """
    before = os.environ.get("CUPY_CACHE_DIR")
    os.environ["CUPY_CACHE_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUPY_CACHE_DIR"]
        else:
            os.environ["CUPY_CACHE_DIR"] = before


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a kernel that is compiled, read from disk, or in memory already."""
    return Study(
        name="kernel",
        title="One call of a short kernel, by where its code comes from",
        variants=(
            _called("compiled", compiled, "compiled"),
            _called("from_disk", from_disk, "from disk"),
            _called("in_memory", in_memory, "in memory"),
        ),
        sizes=(SIZE,),
        inputs=_vector,
        reference=doubled_reference,
        equal=True,
        dtype="float32",
        input_note="uniform random numbers; whole numbers below 2**23 for the exact check",
        baseline="compiled",
        kernels=kernels,
    )


def _called(name: str, call: Any, label: str) -> Variant:
    # From the call until the GPU is done; the numbers are there already.
    return Variant(name, call, label, clock="end_to_end", arrays="numba", simulatable=False)


def _vector(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2**23, dtype) if exact else uniform(rng, n, dtype),)
