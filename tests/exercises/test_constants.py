"""Constants are worked out without executing anything, and survive the way to another process."""

import ast
import json
import math

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.exercises.constants import LARGEST_ARRAY, decode, encode, evaluate, is_constant


def worked_out(text: str, **known: object) -> object:
    return evaluate(ast.parse(text, mode="eval").body, known)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("2 * (N + 1) // 3", 12),
        ("(N, 2.5, True)", (17, 2.5, True)),
        ("1 << 10 | 1", 1025),
        ("N ** 2 % 5", 4),
        ("not N", False),
        ("~0", -1),
        ("'text'", "text"),
        ("np.float32(0.5)", np.float32(0.5)),
    ],
)
def test_literals_and_arithmetic(text: str, value: object) -> None:
    found = worked_out(text, N=17)
    assert found == value
    assert type(found) is type(value)


def test_small_arrays() -> None:
    found = worked_out("np.array([[1, 2], [3, N]], dtype=np.int32)", N=4)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int32
    assert found.tolist() == [[1, 2], [3, 4]]
    assert worked_out("np.array((1.5, 2), 'float32')").dtype == np.float32  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "open('x')",
        "M + 1",
        "[1, 2]",
        "np.zeros(9_999)",
        "np.zeros((4096, 4096))",
        "np.arange(1, 10_000_000_000)",
        "np.linspace(0, 1, 10_000_000)",
        "np.zeros(3, order='F')",
        "np.zeros('x')",
        "[i for i in range(3)]",
        "tuple(i for i in range(10_000_000))",
        "tuple(i for i in range(9) if i)",
        "'a' < 1",
        "np.array(open('x'))",
        "np.array([1], copy=True)",
        "10 ** 10 ** 10",
        "1 << 10_000_000",
        "1 / 0",
        "'a' * 10_000_000_000",
        "__import__('os')",
        "(lambda: 1)()",
        "np.float32('x')",
        "f'{1}'",
        "b'bytes'",
        "...",
    ],
)
def test_anything_else_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        worked_out(text, N=1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**70),
        1.5,
        math.inf,
        2 + 3j,
        "text",
        (1, (2.5, "a")),
        np.float32(0.1),
        np.int8(-1),
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.zeros((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_they_survive_json(value: object) -> None:
    assert is_constant(value)
    back = decode(json.loads(json.dumps(encode(value))))
    assert type(back) is type(value)
    np.testing.assert_array_equal(np.asarray(back, object), np.asarray(value, object))
    if isinstance(value, np.ndarray | np.generic):
        assert back.dtype == value.dtype  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value", [[1], {"a": 1}, np.zeros(LARGEST_ARRAY + 1), np.array(["a"]), (1, [2]), object()]
)
def test_other_values_are_no_constants(value: object) -> None:
    assert not is_constant(value)
    with pytest.raises(ArgumentError, match="Expected a number, a tuple or a small array; got "):
        encode(value)
