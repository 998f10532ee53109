"""The array API standard, version 2024.12: its functions with their parameters, its dtypes and constants."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["CONSTANTS", "DTYPES", "FUNCTIONS", "KINDS", "VERSION", "WAYS"]

VERSION = "2024.12"

CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)

# Names, and the parameters that they have.
_ELEMENTWISE = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag: (x, /)
isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round: (x, /)
sign signbit sin sinh sqrt square tan tanh trunc: (x, /)
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign: (x1, x2, /)
divide equal floor_divide greater greater_equal hypot less less_equal logaddexp: (x1, x2, /)
logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow: (x1, x2, /)
remainder subtract: (x1, x2, /)
clip: (x, /, min=None, max=None)
"""

_OTHERS = """
arange: (start, /, stop=None, step=1, *, dtype=None, device=None)
asarray: (obj, /, *, dtype=None, device=None, copy=None)
empty ones zeros: (shape, *, dtype=None, device=None)
empty_like ones_like zeros_like: (x, /, *, dtype=None, device=None)
eye: (n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack: (x, /, *, device=None, copy=None)
full: (shape, fill_value, *, dtype=None, device=None)
full_like: (x, /, fill_value, *, dtype=None, device=None)
linspace: (start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid: (*arrays, indexing='xy')
tril triu: (x, /, *, k=0)
astype: (x, dtype, /, *, copy=True, device=None)
can_cast: (from_, to, /)
finfo iinfo: (type, /)
isdtype: (dtype, kind)
result_type: (*arrays_and_dtypes)
take: (x, indices, /, *, axis=None)
take_along_axis: (x, indices, /, *, axis=-1)
matmul: (x1, x2, /)
matrix_transpose: (x, /)
tensordot: (x1, x2, /, *, axes=2)
vecdot: (x1, x2, /, *, axis=-1)
broadcast_arrays: (*arrays)
broadcast_to: (x, /, shape)
concat stack: (arrays, /, *, axis=0)
expand_dims squeeze: (x, /, axis)
flip: (x, /, *, axis=None)
moveaxis: (x, source, destination, /)
permute_dims: (x, /, axes)
repeat: (x, repeats, /, *, axis=None)
reshape: (x, /, shape, *, copy=None)
roll: (x, /, shift, *, axis=None)
tile: (x, repetitions, /)
unstack: (x, /, *, axis=0)
argmax argmin count_nonzero: (x, /, *, axis=None, keepdims=False)
nonzero: (x, /)
searchsorted: (x1, x2, /, *, side='left', sorter=None)
where: (condition, x1, x2, /)
unique_all unique_counts unique_inverse unique_values: (x, /)
argsort sort: (x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod cumulative_sum: (x, /, *, axis=None, dtype=None, include_initial=False)
all any max mean min: (x, /, *, axis=None, keepdims=False)
prod sum: (x, /, *, axis=None, dtype=None, keepdims=False)
std var: (x, /, *, axis=None, correction=0.0, keepdims=False)
diff: (x, /, *, axis=-1, n=1, prepend=None, append=None)
__array_namespace_info__: ()
"""


def _signatures(lines: str) -> dict[str, inspect.Signature]:
    found = {}
    for line in lines.strip().splitlines():
        names, _, parameters = line.partition(": ")
        function: Any = eval(f"lambda {parameters[1:-1]}: None")  # Python reads its own syntax best
        found.update(dict.fromkeys(names.split(), inspect.signature(function)))
    return found


FUNCTIONS = _signatures(_ELEMENTWISE) | _signatures(_OTHERS)
"""Signature by name."""

_TAKES = """
acos acosh asin asinh atan atan2 atanh copysign cos cosh divide exp expm1: floating-point numbers (fc)
hypot log log10 log1p log2 logaddexp mean nextafter reciprocal signbit sin: floating-point numbers (fc)
sinh sqrt std tan tanh var: floating-point numbers (fc)
abs add argmax argmin argsort ceil clip cumulative_prod cumulative_sum diff: numbers (iufc)
floor floor_divide greater greater_equal less less_equal matmul max maximum: numbers (iufc)
min minimum multiply negative pow prod remainder round searchsorted sign: numbers (iufc)
sort square subtract sum tensordot trunc vecdot: numbers (iufc)
logical_and logical_not logical_or logical_xor: booleans (b)
bitwise_and bitwise_invert bitwise_or bitwise_xor: booleans or whole numbers (biu)
bitwise_left_shift bitwise_right_shift: whole numbers (iu)
"""


def _kinds(lines: str) -> dict[str, tuple[str, str]]:
    found = {}
    for line in lines.strip().splitlines():
        names, _, taken = line.partition(": ")
        words, _, letters = taken[:-1].partition(" (")
        found.update(dict.fromkeys(names.split(), (words, letters)))
    return found


KINDS = _kinds(_TAKES)
"""What a function takes, in words and as NumPy's letters; one that is not here takes anything."""

WAYS = {
    **{name: f"xp.{way}" for name, way in (
        ("absolute", "abs"), ("amax", "max"), ("amin", "min"), ("arccos", "acos"), ("arccosh", "acosh"),
        ("arcsin", "asin"), ("arcsinh", "asinh"), ("arctan", "atan"), ("arctan2", "atan2"),
        ("arctanh", "atanh"), ("around", "round"), ("average", "mean"), ("bool_", "bool"),
        ("concatenate", "concat"), ("conjugate", "conj"), ("cumprod", "cumulative_prod"),
        ("cumsum", "cumulative_sum"), ("dot", "matmul"), ("fabs", "abs"), ("float_power", "pow"),
        ("identity", "eye"), ("inner", "vecdot"), ("invert", "bitwise_invert"),
        ("left_shift", "bitwise_left_shift"), ("mod", "remainder"), ("power", "pow"),
        ("right_shift", "bitwise_right_shift"), ("rint", "round"), ("swapaxes", "moveaxis"),
        ("transpose", "permute_dims"), ("true_divide", "divide"), ("unique", "unique_values"),
        ("array", "asarray"), ("ascontiguousarray", "asarray"), ("hstack", "concat"), ("vstack", "concat"),
        ("column_stack", "stack"), ("split", "unstack"), ("fmax", "maximum"), ("fmin", "minimum"),
    )},
    "allclose": "xp.all(xp.abs(x - y) <= tolerance)",
    "array_equal": "xp.all(x == y)",
    "copy": "xp.asarray(x, copy=True)",
    "fill": "x[...] = value",
    "flatten": "xp.reshape(x, (-1,))",
    "isclose": "xp.abs(x - y) <= tolerance",
    "item": "float(x)",
    "itemsize": "xp.finfo(x.dtype).bits",
    "kind": "xp.isdtype(x.dtype, 'real floating')",
    "nan_to_num": "xp.where(xp.isnan(x), 0.0, x)",
    "ptp": "xp.max(x) - xp.min(x)",
    "ravel": "xp.reshape(x, (-1,))",
    "tolist": "float(x[i, j]) for one element",
}  # fmt: skip
"""The standard's way to what has another name elsewhere."""
