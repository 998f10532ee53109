"""The larger of two numbers on the CPU: variants against the reference, NaN, shapes, threads."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.topics.launch_sizes.maximum import maximum_reference
from gpuguide.topics.maximum_cpu import kernels
from gpuguide.topics.maximum_cpu import study as maximum_cpu

FILLING = ("python_loop", "numpy", "numpy_threads", "loops", "loops_threads", "ufunc", "parallel")


def call(name: str) -> Callable[..., Any]:
    return maximum_cpu.study().variant(name).call


@pytest.mark.parametrize("name", FILLING)
def test_arrays_of_any_shape_with_nan_in_either(name: str) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 3, 5, 7)).astype(np.float32)
    a[0, 0, :3] = b[0, 0, 2:5] = np.nan
    out = np.empty_like(a)
    call(name)(a, b, out)
    assert np.array_equal(out, maximum_reference(a, b), equal_nan=True)
    assert int(np.isnan(out).sum()) == 5


def test_pythons_own_max_has_another_rule() -> None:
    """Why the loops here do not call it: what it says of NaN depends on the order."""
    nan = float("nan")
    assert np.isnan(max(nan, 1.0))
    assert max(1.0, nan) == 1.0


@pytest.mark.parametrize("name", ["python_loop", "numpy_threads", "loops", "loops_threads", "parallel"])
def test_arrays_of_different_shapes_are_refused(name: str) -> None:
    a, b = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 5), np.float32)
    with pytest.raises(ValueError, match=r"one shape|\(2, 3, 4\), as a"):
        call(name)(a, b, a.copy())
    with pytest.raises(ValueError, match=r"one shape|\(2, 3, 4\), as a"):
        call(name)(a, a, b)


def test_threads_take_views_that_do_not_lie_in_one_piece() -> None:
    a, b = np.random.default_rng(3).random((2, 7, 4, 4), dtype=np.float32)
    out = np.zeros((4, 4, 7), np.float32).T
    call("numpy_threads")(a, b, out)
    assert np.array_equal(out, np.maximum(a, b))


def test_the_compiled_loops_let_go_of_python_s_lock() -> None:
    """Else Python's threads would take turns, and their price would be told wrongly."""
    assert kernels.loops.targetoptions["nogil"]


@pytest.mark.parametrize("name", ["ufunc", "ufunc_new"])
def test_the_compiled_ufunc_says_nothing_of_nan(name: str) -> None:
    """Compared with NaN, the CPU sets a flag that a ufunc would report as an invalid value."""
    a, b = np.full((1, 1, 9), np.nan, np.float32), np.ones((1, 1, 9), np.float32)
    arrays = (a, b) if name == "ufunc_new" else (a, b, np.empty_like(a))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(name)(*arrays)


def test_who_allocates_and_who_uses_threads_is_declared() -> None:
    study = maximum_cpu.study()
    assert {v.name for v in study.variants if v.allocates} == {"numpy_new", "ufunc_new"}
    threads = {v.name: v.threads for v in study.variants}
    on_all = {threads.pop(name) for name in ("parallel", "numpy_threads", "loops_threads")}
    assert on_all == {maximum_cpu.THREADS}
    assert set(threads.values()) == {1}
    assert all(v.clock == "host" for v in study.variants)


def test_the_sources_sizes_and_dtype_are_among_those_measured() -> None:
    study = maximum_cpu.study()
    assert {32**3, 128**3, 256**3} <= set(study.sizes)
    assert study.dtype == "float32"
    assert len(study.sizes) >= 6
    assert study.sizes[-1] >= 1000 * study.sizes[0]


def test_the_largest_size_lies_beyond_the_last_level_cache_of_the_build_machine() -> None:
    l3_bytes = 300 * 2**20
    assert 12 * maximum_cpu.SIZES[-2] < l3_bytes < 12 * maximum_cpu.SIZES[-1] / 4


def test_a_size_that_is_no_cube_is_refused() -> None:
    with pytest.raises(ArgumentError, match="there is none of 100"):
        maximum_cpu.study().make_inputs(100, exact=False)
