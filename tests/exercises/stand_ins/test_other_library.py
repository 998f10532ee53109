"""A library that has a part of the array API standard refuses everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuguide.exercises.stand_ins.other_library import OtherArray, OtherLibrary

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
        (lambda x: x.tolist(), AttributeError, r"has no method 'tolist'\.$"),
        (lambda x: XP.median(x), AttributeError, "has no 'median'"),
        (lambda x: XP.std(x, ddof=1), TypeError, r"^xp\.std\(\) got an unexpected keyword argument 'ddof'"),
        (lambda x: XP.zeros_like(x, 2), TypeError, r"^xp\.zeros_like\(\)"),
        (lambda x: XP.mean(x, 0), TypeError, "positional"),
        (lambda x: XP.sum([1, 2]), TypeError, "Expected an array of this library; got list"),
        (lambda x: np.sqrt(x), TypeError, "does not support ufuncs"),
        (lambda x: np.mean(x), TypeError, "NumPy's mean does not know this library"),
        (lambda x: np.asarray(x), TypeError, "cannot become arrays of NumPy"),
        (lambda x: x + np.ones((2, 2)), TypeError, "met one of NumPy's"),
        (lambda x: np.ones((2, 2)) + x, TypeError, "met one of NumPy's"),
        (lambda x: XP.asarray(np.ones(2)), TypeError, "not of NumPy's arrays"),
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
