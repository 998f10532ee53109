"""The stand-in for CuPy against the real one: each check holds on both, the latter where there is a GPU."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from gpuguide.exercises.stand_in_cupy import Cupy
from gpuguide.machine.backends import cupy


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def cp(request):
    return Cupy() if request.param == "stand-in" else cupy()


def test_round_trip(cp) -> None:
    for contents in (np.arange(6, dtype=np.int32).reshape(2, 3), np.ones(3, np.float32), np.zeros((0, 4))):
        device = cp.asarray(contents)
        assert isinstance(device, cp.ndarray)
        assert (device.dtype, device.shape, device.ndim) == (contents.dtype, contents.shape, contents.ndim)
        for back in (cp.asnumpy(device), device.get()):
            assert type(back) is np.ndarray
            np.testing.assert_array_equal(back, contents)


def test_asarray_keeps_what_is_there(cp) -> None:
    x = cp.ones(3)
    assert cp.asarray(x) is x
    assert cp.array(x) is not x
    assert cp.asarray(x, dtype=cp.float32).dtype == np.float32
    assert cp.asarray([1, 2]).dtype == np.int64


def test_asarray_copies(cp) -> None:
    host = np.zeros(3)
    device = cp.asarray(host)
    host[:] = 7
    device += 1
    np.testing.assert_array_equal(device.get(), [1, 1, 1])
    np.testing.assert_array_equal(host, [7, 7, 7])


def test_mixing_is_refused(cp) -> None:
    x, host = cp.ones(3), np.ones(3)
    for mix in (
        lambda: x + host,
        lambda: host + x,
        lambda: host * x,
        lambda: np.add(host, x),
        lambda: cp.add(x, host),
        lambda: cp.maximum(host, x),
        lambda: x < host,
        lambda: x.__iadd__(host),
        lambda: cp.where(x > 0, host, x),
    ):
        with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
            mix()


def test_implicit_conversion_is_refused(cp) -> None:
    x = cp.ones(3)
    # Before it refuses, CuPy 14 does not take NumPy's new argument `copy`, which NumPy warns of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for convert in (np.asarray, np.array, np.float64):
            with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
                convert(x)


def test_numbers_mix(cp) -> None:
    x = cp.ones(3, dtype=cp.float32)
    for number in (2, 2.0, np.float32(2), True):
        assert (x * number).dtype == np.float32
        assert isinstance(number * x, cp.ndarray)
    assert (x * np.float64(2)).dtype == np.float64


def test_numpy_functions_dispatch(cp) -> None:
    x = cp.asarray(np.array([1.0, 4.0]))
    for result in (np.sqrt(x), np.sum(x), np.add(x, x), np.mean(x), np.concatenate([x, x]), np.dot(x, x)):
        assert isinstance(result, cp.ndarray)
    np.testing.assert_array_equal(np.sqrt(x).get(), [1, 2])


def test_numbers_come_out(cp) -> None:
    x = cp.asarray(np.array([2.5]))
    assert float(x.sum()) == 2.5
    assert int(x.sum()) == 2
    assert x.item() == 2.5
    assert x.sum().item() == 2.5
    assert math.sqrt(x[0] * 10) == 5
    assert x.tolist() == [2.5]
    assert f"{x.sum():.2f}" == "2.50"
    assert str(x) == "[2.5]"
    with pytest.raises(ValueError, match="can only convert an array of size 1"):
        cp.ones(2).item()


def test_truth_needs_one_element(cp) -> None:
    assert bool(cp.asarray(np.array([3])) > 2) is True
    with pytest.raises(ValueError, match="more than one element is ambiguous"):
        bool(cp.ones(2))


def test_results_without_dimensions_stay_on_the_device(cp) -> None:
    x = cp.arange(4, dtype=cp.float32)
    for result in (x.sum(), cp.mean(x), x[2], cp.max(x), x.argmax(), cp.dot(x, x)):
        assert isinstance(result, cp.ndarray)
        assert result.shape == ()
    assert (x - x.mean()).dtype == np.float32
    assert (2 * x.mean()).dtype == np.float32


def test_slices_are_views(cp) -> None:
    x = cp.arange(6).reshape(2, 3)
    x[1][2] = 50
    x[0, :2] = 7
    x[:, cp.newaxis][1] += 1
    np.testing.assert_array_equal(x.get(), [[7, 7, 2], [4, 5, 51]])
    np.testing.assert_array_equal(x.T.get(), x.get().T)


def test_indices_out_of_range_are_refused(cp) -> None:
    with pytest.raises(IndexError):
        cp.arange(3)[3]


def test_arrays_of_the_host_are_not_assigned(cp) -> None:
    x = cp.zeros(3)
    with pytest.raises(ValueError, match=r"non-scalar numpy.ndarray cannot be used for fill"):
        x[:] = np.ones(3)
    x[:] = 3
    x[1] = cp.ones(1)[0]
    np.testing.assert_array_equal(x.get(), [3, 1, 3])


def test_out_must_be_on_the_device(cp) -> None:
    x = cp.ones(3)
    out = cp.empty_like(x)
    assert cp.add(x, x, out=out) is out
    np.testing.assert_array_equal(out.get(), [2, 2, 2])
    with pytest.raises(TypeError):
        cp.add(x, x, out=np.ones(3))


def test_modules_are_found(cp) -> None:
    assert cp.get_array_module(cp.ones(1)) is cp
    assert cp.get_array_module(np.ones(1)) is np
    assert cp.get_array_module(1.0, cp.ones(1)) is cp
    assert not hasattr(np.ones(1), "__cuda_array_interface__")
    assert type(cp.ones(1)).__module__.startswith("cupy")
    assert cp.__name__ == "cupy"


def test_shapes_broadcast(cp) -> None:
    x, factors = cp.ones((3, 2)), cp.arange(3.0)
    np.testing.assert_array_equal((x * factors[:, cp.newaxis]).get(), [[0, 0], [1, 1], [2, 2]])
    with pytest.raises(ValueError, match="broadcast"):
        x * factors


def test_division_by_zero_is_silent(cp) -> None:
    assert math.isinf(float(cp.ones(1)[0] / cp.zeros(1)[0]))


def test_views_are_made_of_parts_and_strides(cp) -> None:
    x = cp.arange(6)
    first, second = cp.split(x, [2])
    second[0] = 9
    assert (first.shape, int(x[2])) == ((2,), 9)
    rows = cp.lib.stride_tricks.as_strided(x, (2, 2), (3 * x.itemsize, x.itemsize))
    rows[...] = 5
    np.testing.assert_array_equal(x.get(), [5, 5, 9, 5, 5, 5])


def test_ufuncs_reduce_and_join(cp) -> None:
    x = cp.arange(1, 5)
    assert (int(cp.add.reduce(x)), int(cp.multiply.reduce(x))) == (10, 24)
    np.testing.assert_array_equal(cp.add.reduce(x.reshape(2, 2)).get(), [4, 6])
    np.testing.assert_array_equal(cp.add.accumulate(x).get(), [1, 3, 6, 10])
    np.testing.assert_array_equal(cp.multiply.outer(x[:2], x[2:]).get(), [[3, 4], [6, 8]])


def test_a_shape_may_be_set(cp) -> None:
    x = cp.arange(6)
    column = x.view()
    column.shape = (6, 1)
    assert (x.shape, column.shape) == ((6,), (6, 1))


def test_all_and_any_refuse_arrays_of_the_host(cp) -> None:
    for function in (cp.all, cp.any):
        assert bool(function(cp.ones(3)))
        with pytest.raises(TypeError):
            function(np.ones(3))
