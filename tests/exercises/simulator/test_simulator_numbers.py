"""Numbers in a traced kernel: types as Numba infers them, stores that keep what memory can hold."""

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from launching import launch, prepare, run
from numba.core.registry import cpu_target

from gpuguide.exercises.simulator import number_rules as rules
from gpuguide.exercises.simulator.memory import Array
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES, Int32, Single, UInt64, shown, type_named
from gpuguide.exercises.simulator.rewriting import OPERATIONS

f4, f8, i2, i4, u1, u8 = np.float32, np.float64, np.int16, np.int32, np.uint8, np.uint64


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The value of an expression in a kernel, as it is before a store converts it."""

    def compute(expression: str, **arguments: Any) -> Any:
        stored: list[Any] = []
        source = f"def kernel({', '.join([*arguments, 'out'])}):\n    out[0] = {expression}\n"
        with monkeypatch.context() as patch:
            patch.setattr(Array, "store", lambda self, value, index, site: stored.append(value))
            assert launch(source, 1, 1, **arguments, out=np.zeros(1)).findings == ()
        return stored.pop()

    return compute


TYPES = [
    ("x[0]", {"x": np.ones(1, f4)}, Single),
    ("x[0] * 2.0", {"x": np.ones(1, f4)}, float),  # a float literal is float64 in Numba
    ("x[0] * 2", {"x": np.ones(1, f4)}, float),  # and so is the product with an integer
    ("x[0] * float32(2.0)", {"x": np.ones(1, f4)}, Single),
    ("x[0] * scale", {"x": np.ones(1, f4), "scale": 2.0}, float),
    ("x[0] * scale", {"x": np.ones(1, f4), "scale": f4(2)}, Single),
    ("x[0] * y[0]", {"x": np.ones(1, f4), "y": np.ones(1, u1)}, Single),
    ("x[0] * y[0]", {"x": np.ones(1, f4), "y": np.ones(1, i4)}, float),
    ("x[0] ** 2", {"x": np.ones(1, f4)}, Single),
    ("x[0] / n", {"x": np.ones(1, f4), "n": 4}, float),
    ("x[0] * (1 / n)", {"x": np.ones(1, f4), "n": 4}, float),
    ("x[0] + math.pi", {"x": np.ones(1, f4)}, float),
    ("math.sqrt(x[0])", {"x": np.ones(1, f4)}, Single),
    ("math.sqrt(n)", {"n": 4}, float),
    ("math.erf(x[0])", {"x": np.ones(1, f4)}, Single),
    ("math.pow(n, 2)", {"n": 4}, float),
    ("math.floor(x[0])", {"x": np.ones(1, f4)}, int),
    ("float(n)", {"n": 4}, float),
    ("int(x[0])", {"x": np.ones(1, f4)}, int),
    ("round(x[0])", {"x": np.ones(1, f4)}, int),
    ("abs(x[0])", {"x": np.ones(1, f4)}, Single),
    ("abs(x[0])", {"x": np.ones(1, i4)}, Int32),
    ("-x[0]", {"x": np.ones(1, f4)}, Single),
    ("-x[0]", {"x": np.ones(1, u1)}, UInt64),
    ("~x[0]", {"x": np.ones(1, i4)}, int),
    ("np.maximum(x[0], x[0])", {"x": np.ones(1, f4)}, Single),
    ("np.maximum(n, 5)", {"n": 4}, int),
    ("max(x[0], 2)", {"x": np.ones(1, f4)}, float),
    ("sum((x[0], x[0]), x[0])", {"x": np.ones(1, f4)}, Single),
    ("x[0] + x[0]", {"x": np.ones(1, u1)}, UInt64),
    ("x[0] + 1", {"x": np.ones(1, u1)}, int),
    ("x[0] > 0", {"x": np.ones(1, f4)}, bool),
    ("(x[0] > 0) + (x[0] > 0.5)", {"x": np.ones(1, f4)}, int),
    ("(x[0] > 0) & (x[0] > 0.5)", {"x": np.ones(1, f4)}, bool),
    ("x[0] if n > 3 else 0.5", {"x": np.ones(1, f4), "n": 4}, float),
    ("2 if n < 3 else x[0]", {"x": np.ones(1, f4), "n": 4}, float),
    ("x[0] if n > 3 else True", {"x": np.ones(1, f4), "n": 4}, Single),
]


@pytest.mark.parametrize(("expression", "arguments", "kind"), TYPES, ids=range(len(TYPES)))
def test_an_expression_has_the_type_that_numba_gives_it(computed, expression, arguments, kind) -> None:
    assert type(computed(expression, **arguments)) is kind


def named(kind: type) -> str:
    return rules.type_of(kind).name


def test_numba_infers_the_same_types() -> None:
    """Its compiler for the CPU says so: the rules are the same for a GPU."""
    for expression, arguments, kind in TYPES:
        names = {"math": math, "np": np, "float32": numba.float32}
        exec(f"def function({', '.join(arguments)}):\n    return {expression}\n", names)
        function = numba.njit(names["function"])
        function.compile(tuple(numba.typeof(value) for value in arguments.values()))
        (signature,) = function.nopython_signatures
        assert str(signature.return_type) == named(kind), expression


OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_", ast.BitOr: "or_",
    ast.BitXor: "xor",
}  # fmt: skip
PAIRS = [
    (left, right)
    for left in ("bool", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64")
    for right in ("bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64")
]  # fmt: skip
# A boolean is a number of 8 bits for Numba's `**`, and a power of float32 stays one: tested by values above.
LEFT_OUT = ("matmul", "power", "negative", "inverted", "either")


@pytest.mark.parametrize("name", [each for each in OPERATIONS.values() if each not in LEFT_OUT])
def test_numba_gives_every_pair_of_types_the_same_result(name: str) -> None:
    symbol = {value: key for key, value in OPERATIONS.items()}[name]
    operation = getattr(operator, OPERATORS[symbol])
    context = cpu_target.typing_context
    context.refresh()
    for left, right in PAIRS:
        a, b = NUMBER_TYPES[left](1), NUMBER_TYPES[right](1)
        arguments = (getattr(numba.types, left), getattr(numba.types, right))
        try:
            expected = str(context.resolve_function_type(operation, arguments, {}).return_type)
        except numba.TypingError:  # bits of floats
            continue
        assert named(type(getattr(rules, name)(a, b))) == expected, (left, right)


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
    ("max((3, 5, 4))", 5),
    ("min((3, 5))", 3),
    ("sum((3, 5, 4))", 12),
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
    (np.int64, -(2**63), -(2**63)),
    (np.int32, 2.75, 2),
    (np.int32, -2.75, -2),
    (np.int32, np.inf, 2**31 - 1),
    (np.bool_, 0.5, True),
    (np.float32, 1e300, np.inf),
    (np.float32, 2**24 + 1, 2**24),
]


@pytest.mark.parametrize(("dtype", "value", "kept"), STORES)
def test_a_store_keeps_what_memory_can_hold(dtype: type, value: float, kept: float) -> None:
    out = np.zeros(1, dtype)
    assert launch("def kernel(value, out):\n    out[0] = value\n", 1, 1, value=value, out=out).findings == ()
    assert out[0] == kept


NAN, INF = math.nan, math.inf
BEYOND = [NAN, INF, -INF, -1.5, -300.0, 300.7, 70000.0, 1e25, 2.5, 3.5, 130.0]
#: What an H200 stores of the numbers above.
STORED = [
    ("f2", "i1", [0, 127, -128, -2, -128, 127, 127, 127, 2, 4, 127]),
    ("f2", "u1", [0, 255, 0, 0, 0, 255, 255, 255, 2, 4, 130]),
    ("f2", "i4", [0, 2**31 - 1, -(2**31), -2, -300, 301, 2**31 - 1, 2**31 - 1, 2, 4, 130]),
    ("f2", "i8", [-(2**63), 2**63 - 1, -(2**63), -2, -300, 301, 2**63 - 1, 2**63 - 1, 2, 4, 130]),
    ("f4", "i1", [0, -1, 0, -1, -44, 44, -1, -1, 2, 3, -126]),
    ("f4", "u1", [0, 255, 0, 0, 0, 44, 255, 255, 2, 3, 130]),
    ("f4", "i2", [0, 32767, -32768, -1, -300, 300, 32767, 32767, 2, 3, 130]),
    ("f4", "u2", [0, 65535, 0, 0, 0, 300, 65535, 65535, 2, 3, 130]),
    ("f4", "i4", [0, 2**31 - 1, -(2**31), -1, -300, 300, 70000, 2**31 - 1, 2, 3, 130]),
    ("f4", "u4", [0, 2**32 - 1, 0, 0, 0, 300, 70000, 2**32 - 1, 2, 3, 130]),
    ("f4", "i8", [-(2**63), 2**63 - 1, -(2**63), -1, -300, 300, 70000, 2**63 - 1, 2, 3, 130]),
    ("f4", "u8", [2**63, 2**64 - 1, 0, 0, 0, 300, 70000, 2**64 - 1, 2, 3, 130]),
    ("f8", "i1", [0, -1, 0, -1, -44, 44, -1, -1, 2, 3, -126]),
    ("f8", "u1", [0, 255, 0, 0, 0, 44, 255, 255, 2, 3, 130]),
    ("f8", "i2", [-32768, 32767, -32768, -1, -300, 300, 32767, 32767, 2, 3, 130]),
    ("f8", "u2", [32768, 65535, 0, 0, 0, 300, 65535, 65535, 2, 3, 130]),
    ("f8", "i4", [-(2**31), 2**31 - 1, -(2**31), -1, -300, 300, 70000, 2**31 - 1, 2, 3, 130]),
    ("f8", "u4", [2**31, 2**32 - 1, 0, 0, 0, 300, 70000, 2**32 - 1, 2, 3, 130]),
    ("f8", "i8", [-(2**63), 2**63 - 1, -(2**63), -1, -300, 300, 70000, 2**63 - 1, 2, 3, 130]),
    ("f8", "u8", [2**63, 2**64 - 1, 0, 0, 0, 300, 70000, 2**64 - 1, 2, 3, 130]),
]


@pytest.mark.parametrize(("given", "kept", "expected"), STORED)
def test_a_float_out_of_range_becomes_the_integer_of_the_gpu(
    given: str, kept: str, expected: list[int]
) -> None:
    cast, kind = type_named(np.dtype(given).name).cast, type_named(np.dtype(kept).name).cast
    assert [int(kind(cast(value))) for value in BEYOND] == expected


ROUNDED = [
    ("math.floor(v)", [-(2**63), 2**63 - 1, -(2**63), -2, 2**63 - 1, 2]),
    ("math.ceil(v)", [-(2**63), 2**63 - 1, -(2**63), -1, 2**63 - 1, 3]),
    ("round(v)", [-(2**63), 2**63 - 1, -(2**63), -2, 2**63 - 1, 2]),
    ("int(v)", [-(2**63), 2**63 - 1, -(2**63), -1, 2**63 - 1, 2]),
]


@pytest.mark.parametrize(("expression", "expected"), ROUNDED)
def test_a_rounded_float_stays_within_int64(computed, expression: str, expected: list[int]) -> None:
    assert [computed(expression, v=v) for v in [NAN, INF, -INF, -1.5, 1e25, 2.5]] == expected


EXTREMA = [
    ("max(v, w)", "f4", "f4", 2),  # one instruction, which prefers the number
    ("max(w, v)", "f4", "f8", 2),
    ("min(v, w)", "f8", "f8", 2),
    ("min(v, 2.0)", "f4", "f8", 2),
    ("max(v, v)", "f4", "f4", NAN),
    ("max(v, w)", "f4", "i4", NAN),  # compared, and NaN is greater than nothing
    ("max(w, v)", "f4", "i4", 2),
    ("min(v, w)", "f2", "f2", NAN),
    ("max(v, w)", "f2", "f4", NAN),
    ("max(v, w, w)", "f4", "f4", NAN),
    ("max((v, w))", "f4", "f4", NAN),
    ("max((w, v))", "f4", "f4", 2),
    ("np.maximum(v, w)", "f4", "f4", NAN),
    ("np.fmin(v, w)", "f4", "f4", 2),
]


@pytest.mark.parametrize(("expression", "of_v", "of_w", "expected"), EXTREMA)
def test_extrema_of_nan_and_2_are_those_of_the_gpu(
    computed, expression: str, of_v: str, of_w: str, expected: float
) -> None:
    # An array of nothing but NaN would be one that holds nothing yet.
    v, w = (np.array([value, 0], dtype) for value, dtype in ((NAN, of_v), (2, of_w)))
    expression = expression.replace("v", "v[0]").replace("w", "w[0]")
    np.testing.assert_equal(float(computed(expression, v=v, w=w)), float(expected))


def test_every_name_of_a_number_type_is_numba_s() -> None:
    """Where Numba's own simulator runs, its names mean the same types."""
    from numba.core import types

    for name, kind in NUMBER_TYPES.items():
        assert str(getattr(types, name)) == kind.name, name


@pytest.mark.parametrize("name", ["float32", "float64", "int32", "int64", "uint8", "uint32", "bool"])
def test_poison_is_a_value_of_its_type(name: str) -> None:
    kind = type_named(name)
    assert type(kind.poison) is kind.kind
    np.testing.assert_equal(kind.cast(kind.poison), kind.poison)


OVERFLOWS = [
    ("n * n", 2**33, 0),  # int64 wraps around, as it does on a GPU
    ("n + n", 2**62, -(2**63)),
    ("(n << 1) >> 1", 2**62, -(2**62)),
    ("1 << n", 64, 0),
    ("10 ** n", 10**9, 0),  # and takes no longer for it
    ("3 ** n", 41, 3**41 - 2**64 * 2),
]


@pytest.mark.parametrize(("expression", "n", "expected"), OVERFLOWS)
def test_integers_overflow(computed, expression: str, n: int, expected: int) -> None:
    with np.errstate(all="ignore"):
        wrapped = (expected + 2**63) % 2**64 - 2**63
    assert computed(expression, n=n) == wrapped


def test_unsigned_differences_are_never_negative(computed) -> None:
    x = np.array([3, 5], u1)
    assert computed("x[0] - x[1]", x=x) == 2**64 - 2
    assert computed("int32(x[0]) - x[1]", x=x) == -2


@pytest.mark.parametrize("value", [0.1, 1.0, 2 / 3, 16777216.0, 1e-7, 3e38, 0.0])
def test_a_float32_is_written_with_as_many_digits_as_it_needs(value: float) -> None:
    written = shown(NUMBER_TYPES["float32"](value))
    assert f4(written) == f4(value)
    assert len(written) <= len(str(f4(value))) or float(written) == float(str(f4(value)))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("x[i] = x[i] * float32(0.5)", []),
        ("x[i] = x[i] * 0.5", [5]),
        ("x[i] = x[i] * 2", [5]),
        ("x[i] = x[i] * float32(5 / 9 + RATIO)", []),
        ("half = 1 / 2\n    x[i] = x[i] * float32(half * 3 + math.pi)", []),
        ("half = 1 / 2\n    half = half * x[i]\n    x[i] = float32(half)", [6]),
        ("x[i] = x[i] ** 2 + abs(x[i])", []),
        ("total = 0.0\n    for k in range(2):\n        total += x[k]\n    x[i] = total", [7]),
        ("x[i] = i / cuda.blockDim.x", [5]),
        ("x[i] = x[i] if i < 3 else 0.0", []),
        ("v = 0 if i > 3 else x[i]\n    x[i] = v * x[i]", [6]),
        ("x[i] = x[i] if i < 3 else float32(0)", []),
        ("k = i if i < 3 else 0\n    x[k] = x[i] if i < 3 and True or False else x[k]", []),
        ("x[i] = float32(i) / float32(cuda.blockDim.x)", []),
    ],
)
def test_lines_that_compute_in_double_precision_are_noted(body: str, lines: list[int]) -> None:
    source = (
        f"import math\nfrom numba import cuda, float32\ndef kernel(x):\n    i = cuda.grid(1)\n    {body}\n"
    )
    kernel = prepare(source, constants={"RATIO": 1.5})
    trace = run(kernel, 1, 1, {"x": np.ones(4, np.float32)}, watch_doubles=True)
    assert trace.findings == ()
    assert list(trace.machine.doubles) == lines
