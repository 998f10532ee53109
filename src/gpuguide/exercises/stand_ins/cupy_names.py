"""The names that the stand-in for CuPy has, by what they do."""

from __future__ import annotations

__all__ = [
    "ABOUT",
    "CODE",
    "DEPENDING",
    "LACKING",
    "MAKERS",
    "METHODS",
    "OF_ARRAYS",
    "OF_SEQUENCES",
    "PARTS",
    "UFUNCS",
    "VALUES",
]

ABOUT = ("can_cast", "iscomplexobj", "isrealobj", "may_share_memory", "ndim", "result_type", "shape", "size")
"""Functions that look at an array and not at its values."""

DEPENDING = ("argwhere", "bincount", "compress", "extract", "flatnonzero", "nonzero", "place", "unique")
"""Functions whose result is as large as the values say, which the host has to ask for."""

LACKING = (
    *("apply_along_axis", "apply_over_axes", "array2string", "array_repr", "array_str", "asmatrix", "block"),
    *("bmat", "busday_count", "busday_offset", "datetime_as_string", "einsum_path", "geomspace"),
    *("histogram_bin_edges", "insert", "is_busday", "isnat", "matvec", "nanpercentile", "nanquantile"),
    *(
        "piecewise",
        "polyder",
        "polydiv",
        "polyint",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "spacing",
    ),
    *("unstack", "vecdot", "vecmat", "linalg.diagonal", "linalg.matrix_norm", "linalg.multi_dot"),
    *("linalg.outer", "linalg.svdvals", "linalg.tensordot", "linalg.trace", "linalg.vecdot"),
    "linalg.vector_norm",
)
"""Functions of NumPy 2.5 that CuPy 14.2 does not have, or that work on the host."""

CODE = (
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
)
"""Names that take code in CUDA C++, which only a GPU can run."""

UFUNCS = (
    "abs",
    "absolute",
    "add",
    "arctan",
    "arctan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "power",
    "reciprocal",
    "remainder",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
)
"""Universal functions: they take arrays of the device and numbers."""

MAKERS = ("eye", "identity", "indices", "logspace", "tri")
"""Functions that make an array of numbers alone."""

METHODS = (
    "argmax",
    "argmin",
    "argsort",
    "clip",
    "copy",
    "cumsum",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "transpose",
    "var",
)
"""Functions that call the method of their argument, whatever that is, as CuPy does."""

OF_ARRAYS = (
    "broadcast_to",
    "convolve",
    "einsum",
    "expand_dims",
    "flip",
    "inner",
    "moveaxis",
    "outer",
    "sort",
    "tensordot",
    "vdot",
    "where",
)
"""Other functions of arrays."""

OF_SEQUENCES = (
    "concatenate",
    "hstack",
    "stack",
    "vstack",
)
"""Functions of lists of arrays."""

PARTS = (
    "array_split",
    "hsplit",
    "split",
    "vsplit",
)
"""Functions that take an array apart: they return a list of views."""

VALUES = (
    "bool_",
    "complex64",
    "complex128",
    "dtype",
    "e",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "newaxis",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)
"""Types and constants, which are those of NumPy."""
