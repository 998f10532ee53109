"""What the compiler costs: functions compiled anew for each call, loaded from disk, or compiled before."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
from numba import config, njit, vectorize

from gpuguide.machine.backends import cupy, current_stream, jit, numba_view
from gpuguide.machine.launch import grid_3d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.compile_cost.kernels import (
    compiled_loops,
    larger_loops,
)
from gpuguide.topics.grids_2d_3d.boxes_3d import box_shape
from gpuguide.topics.grids_2d_3d.kernels import maximum_fast_kernel
from gpuguide.topics.ufuncs.kernels import SIGNATURES, larger
from gpuguide.topics.ufuncs.study import maximum_reference

SIZES = (32**3,)
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""
THREADS_PER_BLOCK = (32, 8, 1)


def call_compiled(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call what was compiled before.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> call_compiled(box, box, out)
    >>> float(out.sum())
    24.0
    """
    compiled_loops()(a, b, out)


def compile_njit(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Compile with @njit, and call once.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> compile_njit(box, box, out)
    >>> float(out.sum())
    24.0
    """
    njit(larger_loops)(a, b, out)


def compile_fastmath(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Compile with @njit(fastmath=True), and call once.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output; the result is undefined where one is NaN.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> compile_fastmath(box, box, out)
    >>> float(out.sum())
    24.0
    """
    njit(fastmath=True)(larger_loops)(a, b, out)


def compile_vectorize(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Make a ufunc without a signature, and call it once: that compiles it.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> compile_vectorize(box, box, out)
    >>> float(out.sum())
    24.0
    """
    vectorize(larger)(a, b, out)


def compile_signature(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Make a ufunc with a signature, which compiles it, and call it once.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> compile_signature(box, box, out)
    >>> float(out.sum())
    24.0
    """
    vectorize(SIGNATURES)(larger)(a, b, out)


def load_cached(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Read the loops from the cache on disk, where the first such call puts them, and call.

    Parameters
    ----------
    a, b, out : ndarray of float32, shape (d, h, w)
        Inputs and output.

    Examples
    --------
    >>> box = np.ones((2, 3, 4), np.float32)
    >>> out = np.zeros_like(box)
    >>> load_cached(box, box, out)
    >>> float(out.sum())
    24.0
    """
    with caching_in(cache_folder()):
        loops = njit(cache=True)(larger_loops)
    loops(a, b, out)


@cache
def cache_folder() -> str:
    """Return a folder for compiled code, of this process alone.

    Returns
    -------
    str
        Deleted when the process ends.

    Examples
    --------
    >>> cache_folder() == cache_folder()
    True
    """
    folder = mkdtemp(prefix="gpuguide-cache-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def caching_in(folder: str) -> Iterator[None]:
    """Let functions that are decorated meanwhile keep their code in a folder.

    Parameters
    ----------
    folder : str
        Instead of ``NUMBA_CACHE_DIR``.

    Yields
    ------
    None
        Until the context ends.

    Examples
    --------
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
    """Compile a CUDA kernel with @cuda.jit, launch it once, copies included.

    Parameters
    ----------
    a_host, b_host, out_host : ndarray of float32, shape (d, h, w)
        Inputs and output, in host memory.

    Raises
    ------
    BackendError
        CuPy is missing.

    Examples
    --------
    >>> from gpuguide.machine.backends import has_gpu
    >>> if has_gpu():
    ...     box = np.ones((2, 3, 4), np.float32)
    ...     out = np.zeros_like(box)
    ...     compile_kernel(box, box, out)
    ...     assert out.sum() == 24
    """
    arrays = [cupy().asarray(x) for x in (a_host, b_host, out_host)]
    d, h, w = out_host.shape
    blocks_per_grid = grid_3d((d, h, w), THREADS_PER_BLOCK)
    kernel = jit(maximum_fast_kernel.py_func)  # another one than the one compiled before
    kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*map(numba_view, arrays))
    arrays[-1].get(out=out_host)


def study() -> Study:
    """Describe the comparison of a Python loop with compiling it in six ways, and with a later call.

    Returns
    -------
    Study
        Eight variants at 32**3 float32.

    Examples
    --------
    >>> len(study().variants), study().sizes == (32**3,)
    (8, True)
    """
    return Study(
        name="compiling",
        title="Compile a function and call it once",
        variants=(
            _on_cpu("python", larger_loops, "Python loop"),
            _on_cpu("later", call_compiled, "later call"),
            _on_cpu("cached", load_cached, "njit, cached"),
            _on_cpu("njit", compile_njit, "njit"),
            _on_cpu("fastmath", compile_fastmath, "njit, fastmath"),
            _on_cpu("vectorize", compile_vectorize, "vectorize"),
            _on_cpu("signature", compile_signature, "vectorize, signature"),
            Variant(
                "kernel",
                compile_kernel,
                label="cuda.jit",
                clock="end_to_end",
                simulatable=False,
            ),
        ),
        sizes=SIZES,
        inputs=_boxes,
        check=EqualCheck(maximum_reference),
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="njit",
    )


def _on_cpu(name: str, call: Callable[..., None], label: str) -> Variant:
    return Variant(name, call, label=label, device="cpu", clock="host", threads=1)


def _boxes(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def box() -> np.ndarray:
        values = whole_numbers(rng, n, EXACT_BELOW, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return box(), box()
