"""Numbers round, wrap and widen as NumPy's and Numba's do; arrays give views and read back as lists."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

from gpuguide import tracer
from gpuguide.errors import ArgumentError
from gpuguide.tracer.numbers import DTYPES, Float32, watch


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_float32_computes_as_numpy_does(name: str) -> None:
    rng, apply = random.Random(name), getattr(operator, name)
    for _ in range(300):
        a, b = (Float32(rng.choice((0, -1, 0.1, rng.uniform(-9, 9), 1e30))) for _ in range(2))
        with np.errstate(all="ignore"):
            right = apply(np.float32(a), np.float32(b))
        # Powers differ in their last digit.
        np.testing.assert_allclose(float(apply(a, b)), float(right), rtol=3e-7 if name == "pow" else 0)
        assert type(apply(a, b)) is Float32


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_wrap_where_they_are_stored(name: str) -> None:
    bits = DTYPES[name].itemsize * 8
    for number in (0, -1, 5, 1 << bits - 1, (1 << bits) + 3, -(1 << bits)):
        right = np.array([number % (1 << 64)], np.uint64).astype(name)[0]
        assert DTYPES[name](number) == right


@pytest.mark.parametrize(
    ("other", "widens"),
    [
        (Float32(2), False),
        (DTYPES["int16"](2), False),
        (True, False),
        (2.0, True),
        (2, True),
        (DTYPES["int32"](2), True),
    ],
)
def test_what_makes_a_float64_is_noted(other: object, widens: bool) -> None:
    notes: list[str] = []
    watch.note = lambda frame, what: notes.append(what)
    try:
        for result in (Float32(1) * other, other * Float32(1)):  # type: ignore[operator]
            assert (type(result) is float) == widens
    finally:
        watch.stop()
    assert len(notes) == (2 if widens else 0)


def test_floats_beyond_an_integer_type_stop_at_its_ends() -> None:
    assert [DTYPES["uint8"](-1.5), DTYPES["int32"](1e20), DTYPES["int32"](float("nan"))] == [0, 2**31 - 1, 0]


def test_arrays_and_their_views() -> None:
    a = tracer.array([[1, 2, 3], [4, 5, 6]], "int32")
    assert (a.shape, a.strides, a.size, a.nbytes, a.ndim) == ((2, 3), (12, 4), 6, 24, 2)
    assert a.T.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert a[:, ::2].tolist() == [[1, 3], [4, 6]]
    assert a[1].tolist() == [4, 5, 6]
    assert a.reshape(3, -1).tolist() == [[1, 2], [3, 4], [5, 6]]
    a[0, 1:] = 9
    assert a.values() == [1, 9, 9, 4, 5, 6]
    assert tracer.array([], "float32", (0, 5)).tolist() == []
    with pytest.raises(ArgumentError, match="6 elements; got 2"):
        tracer.array([1, 2], "int32", (2, 3))
    with pytest.raises(ArgumentError, match="complex64 are not known"):
        tracer.empty(3, "complex64")
