"""Numbers in a traced kernel: types as Numba infers them, stores that keep what memory can hold."""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from launching import launch

from gpuguide.exercises.trace import arrays
from gpuguide.exercises.trace.scalars import NUMBER_TYPES, as_dtype, caster, is_poisoned, poison

f4, f8, i4, u1 = np.float32, np.float64, np.int32, np.uint8


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The value of an expression in a kernel, as it is before a store converts it."""
    stored: list[Any] = []

    def remembering(dtype: np.dtype) -> Callable[[Any], Any]:
        return lambda value: stored.append(value) or np.complex128(0)

    def compute(expression: str, **arguments: Any) -> Any:
        source = f"def kernel({', '.join([*arguments, 'out'])}):\n    out[0] = {expression}\n"
        with monkeypatch.context() as patch:
            patch.setattr(arrays, "caster", remembering)
            assert launch(source, 1, 1, **arguments, out=np.zeros(1, np.complex128)).findings == ()
        return stored.pop()

    return compute


TYPES = [
    ("x[0]", {"x": np.ones(1, f4)}, f4),
    ("x[0] * 2.0", {"x": np.ones(1, f4)}, f8),  # a float literal is float64 in Numba
    ("x[0] * float32(2.0)", {"x": np.ones(1, f4)}, f4),
    ("x[0] * scale", {"x": np.ones(1, f4), "scale": 2.0}, f8),
    ("x[0] * scale", {"x": np.ones(1, f4), "scale": f4(2)}, f4),
    ("x[0] / n", {"x": np.ones(1, f4), "n": 4}, f8),
    ("x[0] * (1 / n)", {"x": np.ones(1, f4), "n": 4}, f8),
    ("x[0] + math.pi", {"x": np.ones(1, f4)}, f8),
    ("math.sqrt(x[0])", {"x": np.ones(1, f4)}, f4),
    ("math.sqrt(n)", {"n": 4}, f8),
    ("math.erf(x[0])", {"x": np.ones(1, f4)}, f4),
    ("math.pow(n, 2)", {"n": 4}, f8),
    ("math.floor(x[0])", {"x": np.ones(1, f4)}, int),
    ("float(n)", {"n": 4}, f8),
    ("int(x[0])", {"x": np.ones(1, f4)}, int),
    ("round(x[0])", {"x": np.ones(1, f4)}, int),
    ("abs(x[0])", {"x": np.ones(1, f4)}, f4),
    ("np.maximum(x[0], x[0])", {"x": np.ones(1, f4)}, f4),
    ("np.maximum(n, 5)", {"n": 4}, int),
    ("x[0] + x[0]", {"x": np.ones(1, u1)}, int),
    ("x[0] > 0", {"x": np.ones(1, f4)}, bool),
    ("(x[0] > 0) + (x[0] > 0.5)", {"x": np.ones(1, f4)}, int),
    ("complex(x[0], 1)", {"x": np.ones(1, f4)}, np.complex128),
    ("x[0] * 2j", {"x": np.ones(1, f4)}, np.complex128),
    ("x[0].real", {"x": np.ones(1, np.complex64)}, f4),
    ("abs(x[0])", {"x": np.ones(1, np.complex64)}, f4),
]


@pytest.mark.parametrize(("expression", "arguments", "kind"), TYPES, ids=[case[0] for case in TYPES])
def test_an_expression_has_the_type_that_numba_gives_it(computed, expression, arguments, kind) -> None:
    assert type(computed(expression, **arguments)) is kind


NUMBA_S = {int: ("int64", "uint64"), bool: ("bool",), np.complex128: ("complex128",)}


def test_numba_infers_the_same_types() -> None:
    """Its compiler for the CPU says so: the rules are the same for a GPU."""
    for expression, arguments, kind in TYPES:
        names = {"math": math, "np": np, "float32": numba.float32}
        exec(f"def function({', '.join(arguments)}):\n    return {expression}\n", names)
        function = numba.njit(names["function"])
        function.compile(tuple(numba.typeof(value) for value in arguments.values()))
        (signature,) = function.nopython_signatures
        assert str(signature.return_type) in NUMBA_S.get(kind, (kind.__name__,)), expression


VALUES = [
    ("(x[0] > 0) + (x[0] > 0.5)", 2),
    ("x[0] / 0", np.inf),
    ("math.sqrt(-x[0])", np.nan),
    ("math.log(x[0] - x[0])", -np.inf),
    ("math.floor(-2.5)", -3),
    ("math.hypot(3, 4)", 5.0),
    ("math.lgamma(1.0)", 0.0),
    ("7 // 2", 3),
    ("-7 // 2", -4),
    ("-7 % 3", 2),
    ("7 / 2", 3.5),
    ("min(3, 5, 4)", 3),
    ("max(x[0], 2)", 2),
    ("divmod(7, 3)[1]", 1),
    ("uint8(257)", 1),
    ("int8(200)", -56),
    ("uint32(-1)", 2**32 - 1),
    ("int32(2.9)", 2),
    ("int32(-2.9)", -2),
    ("bool(x[0])", True),
    ("1 if x[0] else 2", 1),
    ("2 ** 10", 1024),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[case[0] for case in VALUES])
def test_an_expression_has_the_value_that_numba_gives_it(computed, expression, expected) -> None:
    np.testing.assert_equal(computed(expression, x=np.ones(1, f4)), expected)


SUMS = """
def kernel(x, wide, narrow):
    a = 0.0
    b = float32(0)
    for v in x:
        a += v
        b += v
    wide[0] = a
    narrow[0] = b
"""


def test_a_loop_over_float32_stays_float32_only_if_it_starts_so() -> None:
    x = np.full(100, 0.1, f4)
    wide, narrow = np.zeros(1), np.zeros(1)
    assert launch(SUMS, 1, 1, x=x, wide=wide, narrow=narrow).findings == ()
    assert wide[0] == np.sum(x.astype(f8))
    total = f4(0)
    for value in x:
        total += value
    assert narrow[0] == total != wide[0]


STORES = [
    (np.uint8, 256, 0),
    (np.uint8, -1, 255),
    (np.int8, 128, -128),
    (np.int32, 2**31, -(2**31)),
    (np.int64, 2**63, -(2**63)),
    (np.int32, 2.75, 2),
    (np.int32, -2.75, -2),
    (np.int32, np.inf, -(2**31)),
    (np.bool_, 0.5, True),
    (np.float32, 1e300, np.inf),
    (np.float32, 2**24 + 1, 2**24),
    (np.complex64, 2, 2 + 0j),
]


@pytest.mark.parametrize(("dtype", "value", "kept"), STORES)
def test_a_store_keeps_what_memory_can_hold(dtype: type, value: float, kept: float) -> None:
    out = np.zeros(1, dtype)
    assert launch("def kernel(value, out):\n    out[0] = value\n", 1, 1, value=value, out=out).findings == ()
    assert out[0] == kept


def test_a_complex_number_does_not_fit_into_a_float() -> None:
    (finding,) = launch("def kernel(out):\n    out[0] = 1j\n", 1, 1, out=np.zeros(1)).findings
    assert str(finding) == (
        "Thread 0 of block 0 fails in line 2: a complex number does not fit into float64; take its .real or "
        ".imag."
    )


def test_every_name_of_a_number_type_is_numba_s() -> None:
    """Where Numba's own simulator runs, its names mean the same types."""
    from numba.core import types

    for name, kind in NUMBER_TYPES.items():
        assert np.dtype(str(getattr(types, name))) == kind.dtype, name


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "u4", "?", "c8"])
def test_poison_is_a_value_of_its_type(dtype: str) -> None:
    assert as_dtype(dtype) == np.dtype(dtype)
    np.testing.assert_equal(caster(np.dtype(dtype))(poison(np.dtype(dtype))), poison(np.dtype(dtype)))


def test_arrays_of_poison_hold_nothing_yet() -> None:
    assert is_poisoned(np.full(3, np.nan))
    assert is_poisoned(np.full(3, -128, np.int8))
    assert not is_poisoned(np.array([np.nan, 1.0]))
    assert not is_poisoned(np.zeros(3, np.uint8))
    assert not is_poisoned(np.full(0, np.nan))
