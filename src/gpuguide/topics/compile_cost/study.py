"""What the compiler costs: functions compiled anew for each call, loaded from disk, or compiled before."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
from numba import config, cuda, njit, vectorize

from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import grid_3d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.compile_cost.kernels import (
    compiled_loops,
    larger_loops,
)
from gpuguide.topics.grids_2d_3d.boxes_3d import box_shape
from gpuguide.topics.grids_2d_3d.kernels import maximum_fast_kernel
from gpuguide.topics.ufuncs.functions import SIGNATURES, larger
from gpuguide.topics.ufuncs.study import maximum_reference

SIZES = (32**3,)
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""
THREADS_PER_BLOCK = (32, 8, 1)


def call_compiled(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call what was compiled before."""
    compiled_loops()(a, b, out)


def compile_njit(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Compile with @njit, and call once."""
    njit(larger_loops)(a, b, out)


def compile_vectorize(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Make a ufunc without a signature, and call it once: that compiles it."""
    vectorize(larger)(a, b, out)


def compile_signature(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Make a ufunc with a signature, which compiles it, and call it once."""
    vectorize(SIGNATURES)(larger)(a, b, out)


def load_cached(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Read the loops from the cache on disk, where the first such call puts them, and call."""
    with caching_in(cache_folder()):
        loops = njit(cache=True)(larger_loops)
    loops(a, b, out)


@cache
def cache_folder() -> str:
    """Return a folder for compiled code, of this process alone.

    >>> cache_folder() == cache_folder()
    True
    """
    folder = mkdtemp(prefix="gpuguide-cache-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def caching_in(folder: str) -> Iterator[None]:
    """Let functions that are decorated meanwhile keep their code in a folder.

    >>> with caching_in(cache_folder()):
    ...     loops = njit(cache=True)(larger_loops)
    >>> loops.stats.cache_path.startswith(cache_folder())
    True
    """
    before = vars(config)["CACHE_DIR"]
    vars(config)["CACHE_DIR"] = folder
    try:
        yield
    finally:
        vars(config)["CACHE_DIR"] = before


def compile_kernel(a_host: np.ndarray, b_host: np.ndarray, out_host: np.ndarray) -> None:
    """Compile a CUDA kernel with @cuda.jit, launch it once, pageable copies included."""
    arrays = [cupy().asarray(x) for x in (a_host, b_host, out_host)]
    d, h, w = out_host.shape
    blocks_per_grid = grid_3d((d, h, w), THREADS_PER_BLOCK)
    kernel = cuda.jit(maximum_fast_kernel.py_func)  # another one than the one compiled before
    kernel[blocks_per_grid, THREADS_PER_BLOCK](*arrays)
    arrays[-1].get(out=out_host)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a Python loop with compiling it in five ways, and with a later call."""
    return Study(
        name="compiling",
        title="Compile a function and call it once",
        variants=(
            cpu_variant("python", larger_loops, "Python loop"),
            cpu_variant("later", call_compiled, "later call"),
            cpu_variant("cached", load_cached, "njit, cached"),
            cpu_variant("njit", compile_njit, "njit"),
            cpu_variant("vectorize", compile_vectorize, "vectorize"),
            cpu_variant("signature", compile_signature, "vectorize, signature"),
            # No pinned variant: what is timed is the compiler, and the arrays are small.
            end_to_end_variant("kernel", compile_kernel, "cuda.jit, pageable copies"),
        ),
        sizes=SIZES,
        inputs=_boxes,
        reference=maximum_reference,
        equal=True,
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="njit",
        kernels=kernels,
    )


def _boxes(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def box() -> np.ndarray:
        values = whole_numbers(rng, n, EXACT_BELOW, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return box(), box()
