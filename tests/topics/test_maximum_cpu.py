"""The larger of two numbers on the CPU: variants against the reference, NaN, shapes, threads."""

import warnings

import numpy as np
import pytest

from gpuguide.topics.maximum_cpu import kernels
from gpuguide.topics.maximum_cpu.study import maximum_cpu

FILLING = [variant for variant in maximum_cpu.variants if variant.takes_output]


@pytest.mark.parametrize("variant", FILLING, ids=lambda variant: variant.name)
def test_arrays_of_any_shape_with_nan_in_either(variant) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 3, 5, 7)).astype(np.float32)
    a[0, 0, :3] = b[0, 0, 2:5] = np.nan
    out = np.empty_like(a)
    variant.call(a, b, out)
    assert np.array_equal(out, maximum_cpu.reference(a, b), equal_nan=True)
    assert int(np.isnan(out).sum()) == 5


@pytest.mark.parametrize("call", [kernels.loops, kernels.parallel])
def test_compiled_loops_refuse_arrays_of_different_shapes(call) -> None:
    a, b = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 5), np.float32)
    for arrays in ((a, b, a.copy()), (a, a, b)):
        with pytest.raises(ValueError, match="one shape"):
            call(*arrays)


def test_threads_take_views_that_do_not_lie_in_one_piece() -> None:
    a, b = np.random.default_rng(3).random((2, 7, 4, 4), dtype=np.float32)
    out = np.zeros((4, 4, 7), np.float32).T
    maximum_cpu.variant("numpy_threads").call(a, b, out)
    assert np.array_equal(out, np.maximum(a, b))


@pytest.mark.parametrize("name", ["ufunc", "ufunc_new"])
def test_the_compiled_ufunc_says_nothing_of_nan(name: str) -> None:
    """Compared with NaN, the CPU sets a flag that a ufunc would report as an invalid value."""
    a, b = np.full((1, 1, 9), np.nan, np.float32), np.ones((1, 1, 9), np.float32)
    arrays = (a, b) if name == "ufunc_new" else (a, b, np.empty_like(a))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maximum_cpu.variant(name).call(*arrays)
