"""A library that has the array API standard refuses everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.exercises.stand_ins.other_library import OtherArray, OtherLibrary, OtherType
from gpuguide.exercises.stand_ins.standard_names import CONSTANTS, DTYPES, FUNCTIONS, KINDS

XP = OtherLibrary()
TABLE = [[1.0, 2.0], [3.0, 6.0]]


def array() -> Any:
    return XP.asarray(TABLE)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: 2 * x - x / 2, 1.5 * np.array(TABLE)),
        (lambda x: 1 / x, 1 / np.array(TABLE)),
        (lambda x: -(x**2), -(np.array(TABLE) ** 2)),
        (lambda x: XP.where(x > 2, x, 0.0), [[0, 0], [3, 6]]),
        (lambda x: XP.std(x, axis=0, correction=1), np.std(TABLE, axis=0, ddof=1)),
        (lambda x: XP.max(x, axis=1, keepdims=True), [[2], [6]]),
        (lambda x: XP.expand_dims(x[0], axis=1), [[1], [2]]),
        (lambda x: XP.matmul(x.T, x.mT), np.array(TABLE).T @ np.array(TABLE).T),
        (lambda x: XP.full(x.shape, 2, dtype=x.dtype, device=x.device) + XP.ones((1, 2)), [[3, 3], [3, 3]]),
        (lambda x: XP.stack(XP.unstack(x, axis=1)), np.array(TABLE).T),
        (lambda x: x[XP.newaxis, 0] + XP.zeros(2) * XP.pi, [[1, 2]]),
        (lambda x: XP.astype(x, XP.float32) + XP.ones_like(x), np.array(TABLE) + 1),
    ],
)
def test_it_computes_as_the_standard_says(call: Callable[[Any], Any], expected: Any) -> None:
    result = call(array())
    assert isinstance(result, OtherArray)
    np.testing.assert_allclose(result._data, expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.mean(axis=0), AttributeError, "there is the function xp.mean"),
        (lambda x: x.astype("float32"), AttributeError, "there is the function xp.astype"),
        (lambda x: x.tolist(), AttributeError, r"has no method 'tolist'\. Its way is float\(x\[i, j\]\)"),
        (lambda x: x.partition(), AttributeError, r"has no method 'partition'\.$"),
        (lambda x: XP.float32(1), TypeError, r"xp.asarray\(value, dtype=xp.float32\) makes an array"),
        (
            lambda x: XP.finfo(x.dtype).tiny,
            AttributeError,
            "have no 'tiny'; this one has bits, dtype, eps",
        ),
        (lambda x: XP.median(x), AttributeError, "has no 'median'"),
        (lambda x: XP.std(x, ddof=1), TypeError, r"^xp\.std\(\) got an unexpected keyword argument 'ddof'"),
        (lambda x: XP.zeros_like(x, 2), TypeError, r"^xp\.zeros_like\(\)"),
        (lambda x: XP.mean(x, 0), TypeError, "positional"),
        (lambda x: XP.sum([1, 2]), TypeError, "Expected an array of this library; got list"),
        (lambda x: np.sqrt(x), TypeError, "NumPy's sqrt does not know this library; use xp.sqrt"),
        (lambda x: np.mean(x), TypeError, "NumPy's mean does not know this library"),
        (lambda x: np.asarray(x), TypeError, "cannot become arrays of NumPy"),
        (lambda x: x + np.ones((2, 2)), TypeError, "met one of NumPy's"),
        (lambda x: np.ones((2, 2)) + x, TypeError, "met one of NumPy's"),
        (lambda x: XP.asarray(np.ones(2)), TypeError, "not of NumPy's arrays"),
        (lambda x: np.sqrt(2) * x, TypeError, "or a number of NumPy's"),
        (lambda x: XP.asarray([x[0, 0], x[0, 1]]), TypeError, "xp.stack makes one of several arrays"),
        (lambda x: XP.concatenate([x, x]), AttributeError, "Its way is xp.concat."),
        (lambda x: x.copy(), AttributeError, r"Its way is xp.asarray\(x, copy=True\)."),
        (lambda x: XP.linalg, AttributeError, "an extension of the standard, which a library may lack"),
        (lambda x: XP.astype(x, float), TypeError, "such as xp.float32; got builtins.float"),
        (lambda x: XP.zeros(2, dtype=np.float32), TypeError, "such as xp.float32; got numpy.float32"),
        (lambda x: XP.zeros(2, device="cpu"), ValueError, "one device, x.device"),
        (lambda x: x.to_device("cpu"), ValueError, "one device, x.device"),
        (lambda x: np.from_dlpack(x), BufferError, "use functions of xp"),
        (lambda x: x.dtype == "float64", TypeError, "compare with xp.float64"),
        (lambda x: x.dtype.itemsize, AttributeError, r"Its way is xp.finfo\(x.dtype\).bits"),
        (lambda x: x + (x > 2), TypeError, "xp.add takes numbers; got bool"),
        (lambda x: x + XP.asarray(1), TypeError, "does not mix floating-point numbers and whole numbers"),
        (lambda x: XP.asarray([1, 2]) + 0.5, TypeError, "whole numbers and the number 0.5"),
        (lambda x: XP.sum(x > 2), TypeError, "xp.count_nonzero counts the true ones"),
        (lambda x: XP.sqrt(XP.asarray(2)), TypeError, "takes floating-point numbers; got int64"),
        (lambda x: XP.where(x > 2, 1.0, 0.0), TypeError, "needs an array among the two"),
        (lambda x: x * [1, 2], TypeError, "takes arrays of this library and numbers; got list"),
        (lambda x: list(x), TypeError, "xp.unstack"),
        (lambda x: len(x), TypeError, "x.shape"),
        (lambda x: float(x), TypeError, r"float\(\) takes an array without axes"),
        (lambda x: bool(x > 2), TypeError, r"ask xp.all\(x\) or xp.any\(x\)"),
        (lambda x: x[[0, 1]], TypeError, "xp.asarray makes an array of it"),
    ],
)
def test_it_refuses_what_the_standard_does_not_have(
    call: Callable[[Any], Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        call(array())


def test_an_array_knows_its_library_shape_and_type() -> None:
    x = array()
    assert x.__array_namespace__() is XP
    assert (x.shape, x.ndim, x.size, x.dtype) == ((2, 2), 2, 4, XP.float64)
    assert float(x[1, 1]) == 6
    x[0, 0] = 5
    assert bool(XP.any(x == 5))


def test_an_index_may_be_a_mask() -> None:
    x = array()
    assert x[x > 2].shape == (2,)


X, N, B = XP.asarray(TABLE), XP.asarray([[1, 2], [3, 4]]), XP.asarray([[True, False], [True, True]])
# Arguments by parameter, and by function where those do not do.
GIVEN: dict[str, Any] = {
    "x": X,
    "x1": X,
    "x2": X,
    "shape": (2, 2),
    "fill_value": 2.0,
    "obj": TABLE,
    "start": 0.0,
    "stop": 3.0,
    "num": 4,
    "n_rows": 2,
    "from_": XP.float32,
    "to": XP.float64,
    "dtype": XP.float32,
    "type": XP.float32,
    "kind": "integral",
    "indices": XP.asarray([1, 0]),
    "arrays": [X, X],
    "source": 0,
    "destination": 1,
    "axes": (1, 0),
    "repeats": 2,
    "shift": 1,
    "repetitions": (2, 1),
    "condition": B,
    "axis": 0,
}
OWN_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "meshgrid": (X[0, :], X[1, :]),
    "broadcast_arrays": (X, X[0, :]),
    "result_type": (X, XP.float32, 1.0),
    "iinfo": (XP.int32,),
    "searchsorted": (X[0, :], X),
    "squeeze": (X[:, :, None], 2),
    "take_along_axis": (X, N - N),
    "cumulative_sum": (X[0, :],),
    "cumulative_prod": (X[0, :],),
    "expand_dims": (X, 0),
}


def _arguments(name: str) -> tuple[Any, ...]:
    if name in OWN_ARGUMENTS:
        return OWN_ARGUMENTS[name]
    if name == "take":
        return X[0, :], GIVEN["indices"]
    array = {"b": B, "biu": N, "iu": N}.get(KINDS.get(name, ("", ""))[1], X)
    needed = [each for each in FUNCTIONS[name].parameters.values() if each.default is each.empty]
    return tuple(array if each.name in ("x", "x1", "x2") else GIVEN[each.name] for each in needed)


def _is_its_own(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_its_own, value))
    return isinstance(value, OtherArray | OtherType | bool) or not type(value).__module__.startswith("numpy")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_has_all_functions_of_the_standard(name: str) -> None:
    result = getattr(XP, name)(*_arguments(name))
    assert _is_its_own(result)


@pytest.mark.parametrize("name", [*CONSTANTS, *DTYPES])
def test_it_has_all_constants_and_dtypes_of_the_standard(name: str) -> None:
    assert name in dir(XP)
    if name in DTYPES:
        assert XP.zeros(2, dtype=getattr(XP, name)).dtype == getattr(XP, name)
    else:
        assert getattr(XP, name) is getattr(np, name)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: XP.sort(X, axis=1, descending=True), [[2, 1], [6, 3]]),
        (lambda: XP.clip(X, max=2.5), [[1, 2], [2.5, 2.5]]),
        (lambda: XP.diff(X, axis=0), [[2, 4]]),
        (lambda: XP.cumulative_sum(X, axis=0), [[1, 2], [4, 8]]),
        (lambda: XP.take(X, XP.asarray([1]), axis=0), [[3, 6]]),
        (lambda: XP.unique_counts(XP.asarray([3, 3, 5])).counts, [2, 1]),
        (lambda: XP.count_nonzero(X > 2, axis=1), [0, 2]),
        (lambda: XP.nonzero(X > 2)[1], [0, 1]),
        (lambda: XP.maximum(X, 2) - XP.minimum(2, X), [[1, 0], [1, 4]]),
        (lambda: +X // 2 % 2 - abs(-X), [[-1, -1], [-2, -5]]),
        (lambda: (N << 1) | (N >> 1) ^ ~N, [[-2, -4], [-1, -7]]),
        (lambda: X.to_device(X.device), TABLE),
        (lambda: XP.from_dlpack(X), TABLE),
    ],
)
def test_it_does_what_the_standard_says(call: Callable[[], Any], expected: Any) -> None:
    np.testing.assert_array_equal(call()._data, expected)


def test_it_knows_itself() -> None:
    info = XP.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == XP.float64
    assert info.devices() == [XP.zeros(1).device] == [info.default_device()]
    assert set(info.dtypes(kind="bool")) == {"bool"}
    assert (XP.finfo(XP.float32).bits, XP.finfo(X).eps, XP.iinfo(XP.int8).max) == (32, 2.0**-52, 127)
    assert XP.isdtype(X.dtype, "real floating")
    assert X.__array_namespace__(api_version="2023.12") is XP
    with pytest.raises(ValueError, match="not 2099"):
        X.__array_namespace__(api_version="2099.12")


def test_it_notes_where_digits_are_lost() -> None:
    xp = OtherLibrary(__file__)
    x = xp.asarray([1.0, 1 / 3], dtype=xp.float32)
    assert [*xp.rounded] == [1 / 3]
    x * 0.5 + float(x[1])
    assert len(xp.rounded) == 1
    assert xp.widened_at is None
    x[0] = xp.astype(x, xp.float64)[1] / 3
    assert len(xp.rounded) == 2
    assert xp.widened_at == max(line for line in xp.rounded.values() if line)
    assert xp.unset_read_at is None
    xp.empty_like(x) + x
    assert xp.unset_read_at
