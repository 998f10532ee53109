"""What CuPy does, as checks that the stand-in and the real one must both pass.

Each function takes NumPy and a CuPy. `copies` cannot be seen on the real one; what is copied is tested on the
stand-in alone.
"""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pytest


def round_trip(cp):
    for contents in (np.arange(6, dtype=np.int32).reshape(2, 3), np.ones(3, np.float32), np.zeros((0, 4))):
        device = cp.asarray(contents)
        assert isinstance(device, cp.ndarray)
        assert (device.dtype, device.shape, device.ndim) == (contents.dtype, contents.shape, contents.ndim)
        for back in (cp.asnumpy(device), device.get()):
            assert type(back) is np.ndarray
            np.testing.assert_array_equal(back, contents)


def asarray_keeps_what_is_there(cp):
    x = cp.ones(3)
    assert cp.asarray(x) is x
    assert cp.array(x) is not x
    assert cp.asarray(x, dtype=cp.float32).dtype == np.float32
    assert cp.asarray([1, 2]).dtype == np.int64


def asarray_copies(cp):
    host = np.zeros(3)
    device = cp.asarray(host)
    host[:] = 7
    device += 1
    np.testing.assert_array_equal(device.get(), [1, 1, 1])
    np.testing.assert_array_equal(host, [7, 7, 7])


def fortran_order_is_kept(cp):
    assert cp.asarray(np.zeros((3, 4), order="F")).flags.f_contiguous


def mixing_is_refused(cp):
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


def implicit_conversion_is_refused(cp):
    x = cp.ones(3)
    # Before it refuses, CuPy 14 does not take NumPy's new argument `copy`, which NumPy warns of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for convert in (np.asarray, np.array, np.float64):
            with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
                convert(x)


def lists_and_none_are_no_operands(cp):
    x = cp.ones(3)
    for operand in ([1, 2, 3], None, "1", (1, 2, 3)):
        with pytest.raises(TypeError):
            x + operand


def numbers_mix(cp):
    x = cp.ones(3, dtype=cp.float32)
    for number in (2, 2.0, np.float32(2), True):
        assert (x * number).dtype == np.float32
        assert isinstance(number * x, cp.ndarray)
    assert (x * np.float64(2)).dtype == np.float64


def numpy_functions_dispatch(cp):
    x = cp.asarray(np.array([1.0, 4.0]))
    for result in (np.sqrt(x), np.sum(x), np.add(x, x), np.mean(x), np.concatenate([x, x]), np.dot(x, x)):
        assert isinstance(result, cp.ndarray)
    np.testing.assert_array_equal(np.sqrt(x).get(), [1, 2])


def functions_of_methods_run_where_their_argument_is(cp):
    """`cp.sum` of an array of NumPy is computed by NumPy: no error, and no GPU either."""
    assert not isinstance(cp.sum(np.ones(3)), cp.ndarray)
    assert cp.sum(np.ones(3)) == 3
    assert cp.mean(np.ones(3)) == 1
    np.testing.assert_array_equal(cp.asnumpy(np.ones(3)), np.ones(3))


def numbers_come_out(cp):
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


def truth_needs_one_element(cp):
    assert bool(cp.asarray(np.array([3])) > 2) is True
    with pytest.raises(ValueError, match="more than one element is ambiguous"):
        bool(cp.ones(2))


def results_without_dimensions_stay_on_the_device(cp):
    x = cp.arange(4, dtype=cp.float32)
    for result in (x.sum(), cp.mean(x), x[2], cp.max(x), x.argmax(), cp.dot(x, x)):
        assert isinstance(result, cp.ndarray)
        assert result.shape == ()
    assert (x - x.mean()).dtype == np.float32
    assert (2 * x.mean()).dtype == np.float32


def slices_are_views(cp):
    x = cp.arange(6).reshape(2, 3)
    x[1][2] = 50
    x[0, :2] = 7
    x[:, cp.newaxis][1] += 1
    np.testing.assert_array_equal(x.get(), [[7, 7, 2], [4, 5, 51]])
    np.testing.assert_array_equal(x.T.get(), x.get().T)


def lists_pick_copies(cp):
    x = cp.arange(5)
    picked = x[[0, 3]]
    picked += 100
    np.testing.assert_array_equal(picked.get(), [100, 103])
    np.testing.assert_array_equal(x[x > 2].get(), [3, 4])
    np.testing.assert_array_equal(x[np.array([1, 1])].get(), [1, 1])
    np.testing.assert_array_equal(x.get(), np.arange(5))


def indices_out_of_range_are_refused(cp):
    with pytest.raises(IndexError):
        cp.arange(3)[3]


def arrays_of_the_host_are_not_assigned(cp):
    x = cp.zeros(3)
    with pytest.raises(ValueError, match=r"non-scalar numpy.ndarray cannot be used for fill"):
        x[:] = np.ones(3)
    x[:] = 3
    x[1] = cp.ones(1)[0]
    np.testing.assert_array_equal(x.get(), [3, 1, 3])


def get_into_an_array(cp):
    x = cp.arange(3, dtype=cp.float32)
    out = np.ones(3, np.float32)
    assert x.get(out=out) is out
    np.testing.assert_array_equal(out, [0, 1, 2])
    with pytest.raises(TypeError, match="float64 array cannot be obtained from float32 array"):
        x.get(out=np.ones(3))
    with pytest.raises(ValueError, match="Shape mismatch"):
        x.get(out=np.ones(2, np.float32))
    with pytest.raises(TypeError, match=r"Only numpy.ndarray"):
        x.get(out=[0, 0, 0])


def set_from_an_array(cp):
    x = cp.zeros(3)
    x.set(np.arange(3.0))
    np.testing.assert_array_equal(x.get(), [0, 1, 2])
    with pytest.raises(TypeError, match="float32 array cannot be set to float64 array"):
        x.set(np.ones(3, np.float32))
    with pytest.raises(TypeError, match=r"Only numpy.ndarray can be set"):
        x.set([1, 2, 3])


def out_must_be_on_the_device(cp):
    x = cp.ones(3)
    out = cp.empty_like(x)
    assert cp.add(x, x, out=out) is out
    np.testing.assert_array_equal(out.get(), [2, 2, 2])
    with pytest.raises(TypeError):
        cp.add(x, x, out=np.ones(3))


def modules_are_found(cp):
    assert cp.get_array_module(cp.ones(1)) is cp
    assert cp.get_array_module(np.ones(1)) is np
    assert cp.get_array_module(1.0, cp.ones(1)) is cp
    assert not hasattr(np.ones(1), "__cuda_array_interface__")
    assert type(cp.ones(1)).__module__.startswith("cupy")
    assert cp.__name__ == "cupy"


def the_interface_tells_of_memory_on_the_device(cp):
    rows = cp.ones((2, 3), dtype=cp.float32)
    interface = rows.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["strides"]) == ((2, 3), "<f4", None)
    assert rows.T.__cuda_array_interface__["strides"] == (4, 12)
    assert {"data", "version"} <= {*interface}


def shapes_broadcast(cp):
    x, factors = cp.ones((3, 2)), cp.arange(3.0)
    np.testing.assert_array_equal((x * factors[:, cp.newaxis]).get(), [[0, 0], [1, 1], [2, 2]])
    with pytest.raises(ValueError, match="broadcast"):
        x * factors


def division_by_zero_is_silent(cp):
    assert math.isinf(float(cp.ones(1)[0] / cp.zeros(1)[0]))


def arrays_are_made(cp):
    np.testing.assert_array_equal(cp.arange(2, 8, 3).get(), [2, 5])
    np.testing.assert_array_equal(cp.linspace(0, 1, 3).get(), [0, 0.5, 1])
    np.testing.assert_array_equal(cp.full((2,), 7, dtype=cp.int32).get(), [7, 7])
    np.testing.assert_array_equal(cp.indices((2, 3)).get(), np.indices((2, 3)))
    np.testing.assert_array_equal(cp.identity(2, dtype=cp.float32).get(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(cp.mgrid[:3].get(), [0, 1, 2])
    assert [part.shape for part in cp.ogrid[:3, :2]] == [(3, 1), (1, 2)]
    assert cp.zeros(2).dtype == cp.ones(2).dtype == np.float64
    assert cp.zeros_like(cp.ones(2, dtype=cp.int8)).dtype == np.int8
    assert cp.empty((2, 3)).shape == (2, 3)


def objects_are_refused(cp):
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.asarray(np.array(["a"], dtype=object))


def iteration_yields_views(cp):
    parts = list(cp.arange(3))
    assert all(isinstance(part, cp.ndarray) and part.shape == () for part in parts)
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(cp.ones(1)[0])
    with pytest.raises(TypeError):
        len(cp.ones(1)[0])


def views_are_made_of_parts_and_strides(cp):
    x = cp.arange(6)
    first, second = cp.split(x, [2])
    second[0] = 9
    assert (first.shape, int(x[2])) == ((2,), 9)
    rows = cp.lib.stride_tricks.as_strided(x, (2, 2), (3 * x.itemsize, x.itemsize))
    rows[...] = 5
    np.testing.assert_array_equal(x.get(), [5, 5, 9, 5, 5, 5])


def sums_and_fused_functions_are_written_as_one(cp):
    x, y = cp.arange(6.0).reshape(2, 3), cp.ones(2)
    np.testing.assert_array_equal(cp.einsum("ij,i->j", x, y).get(), [3, 5, 7])

    @cp.fuse()
    def between(a, b):
        return (a - b) * (a - b)

    np.testing.assert_array_equal(between(x[0], x[1]).get(), [9, 9, 9])
    np.testing.assert_array_equal(cp.fuse(kernel_name="next")(lambda a: a + 1)(y).get(), [2, 2])
    with pytest.raises(Exception, match=r"kernel name|identifier"):
        cp.fuse()(lambda a: a + 1)(y)


def ufuncs_reduce_and_join(cp):
    x = cp.arange(1, 5)
    assert (int(cp.add.reduce(x)), int(cp.multiply.reduce(x))) == (10, 24)
    np.testing.assert_array_equal(cp.add.reduce(x.reshape(2, 2)).get(), [4, 6])
    np.testing.assert_array_equal(cp.add.accumulate(x).get(), [1, 3, 6, 10])
    np.testing.assert_array_equal(cp.multiply.outer(x[:2], x[2:]).get(), [[3, 4], [6, 8]])


def a_shape_may_be_set(cp):
    x = cp.arange(6)
    column = x.view()
    column.shape = (6, 1)
    assert (x.shape, column.shape) == ((6,), (6, 1))
    with pytest.raises(AttributeError, match="Incompatible shape for in-place"):
        x.reshape(2, 3).T.shape = (6,)


def its_class_makes_arrays(cp):
    x = cp.ndarray((2, 3), cp.int32)
    assert isinstance(x, cp.ndarray)
    assert (x.shape, x.dtype) == ((2, 3), np.int32)
    cp.multiply(cp.ones((2, 3), cp.int32), 7, x)
    np.testing.assert_array_equal(x.get(), np.full((2, 3), 7))
    for copied in (copy.copy(x), copy.deepcopy(x)):
        copied += 1
        assert isinstance(copied, cp.ndarray)
    np.testing.assert_array_equal(x.get(), np.full((2, 3), 7))


def all_and_any_refuse_arrays_of_the_host(cp):
    for function in (cp.all, cp.any):
        assert bool(function(cp.ones(3)))
        with pytest.raises(TypeError):
            function(np.ones(3))


BEHAVIOUR = [
    ufuncs_reduce_and_join,
    a_shape_may_be_set,
    its_class_makes_arrays,
    all_and_any_refuse_arrays_of_the_host,
    views_are_made_of_parts_and_strides,
    sums_and_fused_functions_are_written_as_one,
    round_trip,
    asarray_keeps_what_is_there,
    asarray_copies,
    fortran_order_is_kept,
    mixing_is_refused,
    implicit_conversion_is_refused,
    lists_and_none_are_no_operands,
    numbers_mix,
    numpy_functions_dispatch,
    functions_of_methods_run_where_their_argument_is,
    numbers_come_out,
    truth_needs_one_element,
    results_without_dimensions_stay_on_the_device,
    slices_are_views,
    lists_pick_copies,
    indices_out_of_range_are_refused,
    arrays_of_the_host_are_not_assigned,
    get_into_an_array,
    set_from_an_array,
    out_must_be_on_the_device,
    modules_are_found,
    the_interface_tells_of_memory_on_the_device,
    shapes_broadcast,
    division_by_zero_is_silent,
    arrays_are_made,
    objects_are_refused,
    iteration_yields_views,
]
