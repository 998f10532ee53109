"""What a kernel sees under the names of Numba, `math`, NumPy and Python, while it is traced."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

from gpuguide.errors import UnsupportedError
from gpuguide.tracer.memory import Array, KernelError, Memory, array, c_steps, empty, log
from gpuguide.tracer.numbers import DTYPES, NARROW, Float32, dtype_of

__all__ = [
    "CUDA",
    "WAITS",
    "Cuda",
    "Dim",
    "Wait",
    "kernel_builtins",
    "math_names",
    "numpy_names",
    "numpy_or_none",
]

WARP_SIZE = 32
_ALL_LANES = 0xFFFFFFFF
_OF_A_BLOCK = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
_OF_A_WARP = (
    "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync", "any_sync",
    "eq_sync", "ballot_sync", "match_any_sync", "activemask",
)  # fmt: skip
#: What a thread waits in for others.
WAITS = frozenset((*_OF_A_BLOCK, *_OF_A_WARP))
#: Shared memory of a block, in bytes, as long as a kernel does not ask the driver for more.
MOST_SHARED_BYTES = 48 * 1024


def lacks(what: str) -> Exception:
    """Return the error for what the tracer does not know: of the kernel that runs, or of the script."""
    text = f"{what} is not known to the tracer"
    return KernelError("unsupported", text) if log.thread is not None else UnsupportedError(f"{text}.")


class Dim:
    """Three numbers: x, y and z."""

    __slots__ = ("name", "x", "y", "z")

    def __init__(self, name: str) -> None:
        self.name, self.x, self.y, self.z = name, 1, 1, 1

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"cuda.{self.name} has no .{name}; it has .x, .y and .z")

    def _no_number(self, *_: Any) -> Any:
        raise TypeError(f"cuda.{self.name} is no number; it has .x, .y and .z")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = _no_number
    __lt__ = __le__ = __gt__ = __ge__ = _no_number

    def __repr__(self) -> str:
        return f"cuda.{self.name}, which has .x, .y and .z"

    def set(self, index: tuple[int, int, int]) -> None:
        """Let it stand for another place: kernels may have it under names of their own."""
        self.x, self.y, self.z = index


class Wait:
    """What a thread waits for: an operation of its block or warp, and what it brings along."""

    __slots__ = ("arguments", "mask", "of_block", "operation")

    def __init__(self, operation: str, arguments: tuple[Any, ...]) -> None:
        self.operation, self.of_block = operation, operation in _OF_A_BLOCK
        if self.of_block or operation == "activemask":
            self.mask, self.arguments = 0, arguments
        else:
            self.mask = int(arguments[0]) & _ALL_LANES if arguments else _ALL_LANES
            self.arguments = arguments[1:]


def _waiting(name: str) -> Callable[..., Wait]:
    def wait(*given: Any, **named: Any) -> Wait:
        return Wait(name, (*given, *named.values()))

    wait.__name__ = name
    return wait


# --- Atomic operations, and memory that a kernel makes ---------------------------------------------------


class Atomic:
    """Operations that change an element in one step and return what it held."""

    CHANGES: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "add": operator.add,
        "sub": operator.sub,
        "max": max,
        "min": min,
        "nanmax": lambda old, new: new if old != old or new > old else old,  # noqa: PLR0124
        "nanmin": lambda old, new: new if old != old or new < old else old,  # noqa: PLR0124
        "and_": operator.and_,
        "or_": operator.or_,
        "xor": operator.xor,
        "exch": lambda old, new: new,
        "inc": lambda old, top: 0 if old >= top else old + 1,
        "dec": lambda old, top: top if old == 0 or old > top else old - 1,
    }

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.CHANGES:
            raise lacks(f"cuda.atomic.{name}")
        change = self.CHANGES[name]

        def apply(ary: Array, idx: Any, val: Any) -> Any:
            return ary.change(idx, lambda old: change(old, ary.dtype(val)))

        apply.__qualname__ = f"cuda.atomic.{name}"
        setattr(self, name, apply)
        return apply

    def cas(self, ary: Array, idx: Any, old: Any, val: Any) -> Any:
        """Replace an element if it holds the old value."""
        return ary.change(idx, lambda held: val if held == old else held, guess=old)

    def compare_and_swap(self, ary: Array, old: Any, val: Any) -> Any:
        """Replace the first element if it holds the old value."""
        return self.cas(ary, 0, old, val)


class Space:
    """`cuda.shared` or `cuda.local`: an array for the block that runs, or for its thread alone."""

    def __init__(self, cuda: Cuda, space: str) -> None:
        self._cuda, self._space = cuda, space

    def array(self, shape: Any, dtype: Any = None, **_: Any) -> Array:
        """Make the array of this line, or return the one that the block has."""
        if dtype is None:
            raise TypeError(f"cuda.{self._space}.array needs a dtype, such as float32, behind the shape")
        cuda, site = self._cuda, log.site()
        made = cuda.shared_arrays.get(site) if self._space == "shared" else None
        if made is None:
            size, kind = (tuple(shape) if isinstance(shape, tuple | list) else (shape,)), dtype_of(dtype)
            if not all(isinstance(extent, int) for extent in size):
                raise KernelError(
                    "compile", f"the shape of an array must be integers, and here it is {shape}"
                )
            if size == (0,) and self._space == "shared":
                size = (cuda.shared_bytes // kind.itemsize,)
            memory = Memory(kind, [kind.poison] * math.prod(size), self._space, unset=True)
            made = cuda.own_arrays[site] = Array(memory, size, c_steps(size), name=cuda.name_at(site))
            if self._space == "shared":
                self._check_room(made)
                cuda.shared_arrays[site] = made
        return made

    def _check_room(self, made: Array) -> None:
        used = made.nbytes + sum(each.nbytes for each in self._cuda.shared_arrays.values())
        if used > max(MOST_SHARED_BYTES, self._cuda.shared_bytes):
            raise KernelError(
                "memory",
                f"asks for {used:,} bytes of shared memory for its block; there are {MOST_SHARED_BYTES:,}",
            )


# --- cuda ------------------------------------------------------------------------------------------------


class Cuda:
    """The names of `numba.cuda` in a kernel; the launch in progress sets who and where the thread is."""

    warpsize = WARP_SIZE

    def __init__(self) -> None:
        self.atomic, self.shared, self.local = Atomic(), Space(self, "shared"), Space(self, "local")
        self.threadIdx, self.blockIdx = Dim("threadIdx"), Dim("blockIdx")
        self.blockDim, self.gridDim = Dim("blockDim"), Dim("gridDim")
        self.laneid = 0
        self.const = SimpleNamespace(array_like=lambda values: values)
        self.shared_arrays: dict[int, Array] = {}
        #: The last array, shared or local, that was made at each place.
        self.own_arrays: dict[int, Array] = {}
        self.shared_bytes = 0
        self.fences = 0
        self.name_at: Callable[[int], str] = lambda site: "the array"
        for name in WAITS:
            setattr(self, name, _waiting(name))
        self.threadfence = self.threadfence_block = self.threadfence_system = self._fence

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return DTYPES[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise lacks(f"cuda.{name}")

    def _fence(self) -> None:
        self.fences += 1

    def grid(self, ndim: int) -> Any:
        """Return the place of the thread in the grid."""
        thread, block, width = self.threadIdx, self.blockIdx, self.blockDim
        x = thread.x + block.x * width.x
        if ndim == 1:
            return x
        return (x, thread.y + block.y * width.y, thread.z + block.z * width.z)[:ndim]

    def gridsize(self, ndim: int) -> Any:
        """Return the number of threads along each axis."""
        grid, block = self.gridDim, self.blockDim
        size = (grid.x * block.x, grid.y * block.y, grid.z * block.z)
        return size[0] if ndim == 1 else size[:ndim]

    def popc(self, number: int) -> int:
        """Count the bits that are set."""
        return (int(number) & ((1 << getattr(number, "bits", 64)) - 1)).bit_count()

    def ffs(self, number: int) -> int:
        """Return the place of the lowest bit that is set, counted from 1."""
        return (int(number) & -int(number)).bit_length()

    def clz(self, number: int) -> int:
        """Count the zeros above the highest bit that is set."""
        bits = getattr(number, "bits", 64)
        return int(bits - (int(number) & ((1 << bits) - 1)).bit_length())

    def brev(self, number: int) -> int:
        """Turn the bits round."""
        bits = getattr(number, "bits", 64)
        return int(f"{int(number) & ((1 << bits) - 1):0{bits}b}"[::-1], 2)

    def fma(self, a: float, b: float, c: float) -> float:
        """Multiply and add with one rounding."""
        result = float(a) * float(b) + float(c)
        return Float32(result) if all(type(each) in NARROW for each in (a, b, c)) else result

    def cbrt(self, x: float) -> float:
        """Return the cube root."""
        root = math.copysign(abs(float(x)) ** (1 / 3), x)
        return Float32(root) if type(x) in NARROW else root

    def selp(self, condition: Any, first: Any, second: Any) -> Any:
        """Choose without a branch."""
        return first if condition else second

    def nanosleep(self, ns: int) -> None:
        """Let time pass, of which the tracer has none."""


for _name, _method in [*vars(Cuda).items()]:
    if not _name.startswith("_") and callable(_method):
        _method.__qualname__ = f"cuda.{_name}"  # which errors of Python name

#: There is one, as one launch runs at a time: what a file takes from it by name is the same everywhere.
CUDA = Cuda()


# --- math, NumPy, and the functions of Python -------------------------------------------------------------

_MATH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "fabs",
    "fmod",
    "gamma",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "pow",
    "radians",
    "degrees",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
_EXACT = ["ceil", "floor", "trunc", "isnan", "isinf", "isfinite", "gcd"]


def _rounding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that never raises, and gives a float32 of what is narrow."""

    @functools.wraps(function)
    def apply(*xs: Any) -> Any:
        try:
            result = function(*xs)
        except ValueError:
            zero = function.__name__.startswith("log") and xs[0] == 0
            result = -math.inf if zero else math.nan
        except OverflowError:
            result = math.inf
        return Float32(result) if all(x.__class__ in NARROW for x in xs) else float(result)

    return apply


class Names(SimpleNamespace):
    """A module of which the tracer knows some names."""

    def __init__(self, module: str, **names: Any) -> None:
        super().__init__(**names)
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise lacks(f"{self.__name__}.{name}")


def _exact(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def apply(*xs: Any) -> Any:
        try:
            return function(*xs)
        except (ValueError, OverflowError):  # of what is no number
            return 0

    return apply


def math_names() -> Names:
    """Return `math`, whose functions keep float32."""
    return Names(
        "math",
        **{name: _rounding(getattr(math, name)) for name in _MATH},
        **{name: _exact(getattr(math, name)) for name in _EXACT},
        **{name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")},
    )


class NumpyNames(Names):
    """What kernels and small hosts use of NumPy; the rest is NumPy's own, where it is installed."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            numpy = numpy_or_none()
            if numpy is None and name in _WITHOUT_NUMPY:
                return _WITHOUT_NUMPY[name]
            if hasattr(numpy, name):
                return getattr(numpy, name)
        return super().__getattr__(name)


def numpy_or_none() -> Any:
    """Return NumPy, if it is installed: a script may have imported its stand-in."""
    try:
        import numpy
    except ImportError:
        return None
    return None if isinstance(numpy, Names) else numpy


def numpy_names(maths: Names) -> NumpyNames:
    """Return the names of NumPy that make sense in a kernel."""
    own = {
        "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "sin": "sin",
        "cos": "cos", "tan": "tan", "tanh": "tanh", "floor": "floor", "ceil": "ceil", "hypot": "hypot",
        "fabs": "fabs", "isnan": "isnan", "isinf": "isinf", "pi": "pi", "inf": "inf", "nan": "nan", "e": "e",
        "power": "pow", "arctan2": "atan2", "isfinite": "isfinite",
    }  # fmt: skip
    return NumpyNames(
        "numpy",
        **DTYPES,
        **{name: getattr(maths, there) for name, there in own.items()},
        maximum=_choice(max),
        minimum=_choice(min),
        abs=abs,
        absolute=abs,
        array=_made,
        asarray=_made,
        zeros=lambda shape, dtype="float64": _full(shape, 0, dtype),
        ones=lambda shape, dtype="float64": _full(shape, 1, dtype),
        empty=lambda shape, dtype="float64": empty(shape, dtype),
    )


def _made(values: Any, dtype: Any = None) -> Array:
    if dtype is None:
        dtype = "float64" if "." in repr(values) else "int64"
    return array(values, dtype)


def _full(shape: Any, value: Any, dtype: Any) -> Array:
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    return array([value] * math.prod(size), dtype, size)


def _arange(*limits: Any, dtype: Any = None) -> Array:
    first, stop, step = (0, *limits, 1) if len(limits) == 1 else (*limits, 1)[:3]
    return _made([first + i * step for i in range(math.ceil((stop - first) / step))], dtype)


#: What hosts make arrays with; where NumPy is installed, it does.
_WITHOUT_NUMPY: dict[str, Callable[..., Any]] = {
    "arange": _arange,
    "full": lambda shape, value, dtype="float64": _full(shape, value, dtype),
    "zeros_like": lambda x: _full(x.shape, 0, x.dtype.name),
    "ones_like": lambda x: _full(x.shape, 1, x.dtype.name),
    "empty_like": lambda x: empty(x.shape, x.dtype.name),
}


def _choice(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `max` or `min`, whose result has the type that holds all arguments; NaN never wins."""
    wins = Atomic.CHANGES["nanmax" if function is max else "nanmin"]

    @functools.wraps(function)
    def apply(*xs: Any) -> Any:
        values = xs[0] if len(xs) == 1 and not isinstance(xs[0], int | float) else xs
        result = functools.reduce(wins, values)
        kinds = {x.__class__ for x in values}
        return float(result) if float in kinds or (int in kinds and Float32 in kinds) else result

    return apply


def kernel_builtins() -> dict[str, Any]:
    """Return Python's functions as a kernel has them."""
    return {
        **vars(builtins),
        "max": _choice(max),
        "min": _choice(min),
        **{name: DTYPES[name] for name in ("int", "float", "bool")},
    }
