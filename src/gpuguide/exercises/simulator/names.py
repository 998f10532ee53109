"""The names that a traced kernel sees: stand-ins for ``cuda``, ``math``, ``numpy`` and Python's own.

A kernel may use the attributes that are named here and no others, which `source` checks before it runs.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from types import GeneratorType
from typing import Any, NamedTuple

from gpuguide.exercises.simulator import number_rules as rules
from gpuguide.exercises.simulator.findings import several_types
from gpuguide.exercises.simulator.machine import ATOMIC, EXCHANGE, AccessError, Machine, UnsupportedError
from gpuguide.exercises.simulator.memory import Array, Memory, Region, View, again, c_steps, whole
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES, described, type_named, type_of
from gpuguide.exercises.simulator.rewriting import (
    EACH,
    FINISHED,
    FOLDED,
    LACKING,
    LOAD,
    OPERATIONS,
    PAUSE,
    SLICE,
    STORE,
    TRACER,
    WAITING,
)

ALL_LANES = 2**32 - 1
#: Set in the mask of each operation of a warp, so that one that names no lane is not taken for a barrier.
_OF_A_WARP = 2**32
#: Bytes of shared memory that a block may have without asking for more at the launch.
STATIC_SHARED_LIMIT = 48 * 1024


def _called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function bear the name that a message about its arguments shows."""
    function.__name__ = function.__qualname__ = name
    return function


# --- Places, barriers and warps -------------------------------------------------------------------------


class Dim:
    """Three numbers, along the axes x, y and z."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int = 1, y: int = 1, z: int = 1) -> None:
        self.x, self.y, self.z = x, y, z


class Wait(NamedTuple):
    """What a thread waits for: for its block, with a mask of 0, or for some lanes of its warp."""

    operation: str
    mask: int
    site: int
    path: int
    value: Any = None
    argument: Any = None

    @property
    def place(self) -> tuple[int, int]:
        """What the threads of a block must agree on: the place, and the turns of the loops around it."""
        return self.site, self.path


class Cuda:
    """``cuda``: what a kernel may use; anything else raises `UnsupportedError`."""

    warpsize = 32

    def __init__(
        self, machine: Machine, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int
    ) -> None:
        self._machine = machine
        self.gridDim, self.blockDim = Dim(*grid), Dim(*block)
        self.threadIdx, self.blockIdx = Dim(), Dim()
        self.laneid = 0
        self.shared, self.local = Shared(machine, shared_bytes), Local(machine)
        self.const, self.atomic = Const(), Atomic()
        for name in WAITING:
            # Not a method, which would know this object: what knows itself is not freed at once.
            setattr(self, name, partial(_wait, machine, name))

    def __getattr__(self, name: str) -> Any:
        if name in NUMBER_TYPES:
            return NUMBER_TYPES[name]
        raise UnsupportedError(f"cuda.{name}")

    def grid(self, ndim: int) -> Any:
        """Return the thread's place in the grid, one number per axis."""
        thread, block, extent = self.threadIdx, self.blockIdx, self.blockDim
        x = thread.x + block.x * extent.x
        if ndim == 1:
            return x
        y = thread.y + block.y * extent.y
        return (x, y) if ndim == 2 else (x, y, thread.z + block.z * extent.z)[: _axes(ndim)]

    def gridsize(self, ndim: int) -> Any:
        """Return the threads of the grid along each axis."""
        grid, block = self.gridDim, self.blockDim
        sizes = (grid.x * block.x, grid.y * block.y, grid.z * block.z)
        return sizes[0] if ndim == 1 else sizes[: _axes(ndim)]

    def threadfence(self, *, site: int) -> None:
        """Let other blocks see what this thread wrote before what it writes after."""
        self._machine.fence(site)

    def threadfence_system(self, *, site: int) -> None:
        """Let other blocks, GPUs and the host see it."""
        self._machine.fence(site)

    def threadfence_block(self, *, site: int) -> None:
        """Let the block see it; here every thread sees every store at once."""

    def nanosleep(self, nanoseconds: Any) -> None:
        """Do nothing: there is no time here."""

    def lanemask_lt(self) -> Any:
        """Return one bit per lane, set for those below this one."""
        return rules.UInt32((1 << self.laneid) - 1)

    def popc(self, value: Any) -> int:
        """Count the bits that are set."""
        return (_integer(value) & (_mask(value) if value < 0 else -1)).bit_count()

    def ffs(self, value: Any) -> int:
        """Return the number of the lowest bit that is set, counted from 1; 0 for 0."""
        number = _integer(value)
        return (number & -number).bit_length()

    def clz(self, value: Any) -> int:
        """Count the zeros above the highest bit that is set."""
        mask = _mask(value)
        return mask.bit_length() - (_integer(value) & mask).bit_length()

    def brev(self, value: Any) -> int:
        """Reverse the bits."""
        mask = _mask(value)
        return int(f"{_integer(value) & mask:0{mask.bit_length()}b}"[::-1], 2)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return ``a * b + c``, rounded once where float64 holds the product exactly."""
        return rules.common((a, b, c), float(a) * float(b) + float(c))

    def cbrt(self, value: Any) -> Any:
        """Return the cube root."""
        return _as_argument(value, math.cbrt(value))

    def selp(self, test: Any, a: Any, b: Any) -> Any:
        """Return `a` where the test is true, else `b`."""
        return a if test else b


def _pause(site: int) -> Wait:
    """Return what a thread hands to the scheduler before an atomic operation; it is given the site back."""
    return Wait(PAUSE, 0, site, 0)


def _finished(result: Any) -> Generator[Wait, Any, Any]:
    """Let a function that waits come to its end, and return what it returns; any other has done so."""
    return (yield from result) if isinstance(result, GeneratorType) else result


#: Values that an operation takes besides its mask; 1 if it is not named.
_VALUES = {
    "syncthreads": 0, "syncwarp": 0, "activemask": 0,
    "shfl_sync": 2, "shfl_up_sync": 2, "shfl_down_sync": 2, "shfl_xor_sync": 2,
}  # fmt: skip


#: Names of the arguments, as far as Numba knows any.
_NAMED = {
    **dict.fromkeys(("shfl_up_sync", "shfl_down_sync"), ("mask", "value", "delta")),
    "shfl_sync": ("mask", "value", "src_lane"),
    "shfl_xor_sync": ("mask", "value", "lane_mask"),
    **dict.fromkeys(("syncthreads_count", "syncthreads_and", "syncthreads_or"), ("predicate",)),
}


def _wait(machine: Machine, operation: str, *given: Any, site: int, **named: Any) -> Wait:
    """Return what a thread hands to the scheduler: the mask comes first, if the operation has one."""
    if named:
        given += tuple(named.pop(name) for name in _NAMED.get(operation, ())[len(given) :] if name in named)
    if named:
        raise TypeError(f"cuda.{operation} takes no argument of the name {next(iter(named))}")
    if operation == "syncthreads" and not given:
        return Wait(operation, 0, site, machine.path)
    if operation.startswith("syncthreads"):
        mask, values = 0, given
        if any(isinstance(value, bool) for value in values):
            raise TypeError(f"Numba's cuda.{operation} takes an integer, not True or False; use int32()")
    else:
        mask = (int(given[0]) if given else ALL_LANES) & ALL_LANES | _OF_A_WARP
        values = given[1:]
    if len(values) != _VALUES.get(operation, 1):
        raise TypeError(f"cuda.{operation} was given {len(given)} values")
    return Wait(operation, mask, site, machine.path, *values)


def _axes(ndim: int) -> int:
    if ndim not in (2, 3):
        raise TypeError(f"a grid has 1, 2 or 3 axes, not {ndim}")
    return ndim


def _integer(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"an integer is expected here, not {value!r}")
    return int(value)


def _mask(value: Any) -> int:
    """Return all bits that a value has: they decide the answer."""
    _integer(value)
    bits = rules.width(value)
    if bits is None:
        raise UnsupportedError("the width of an integer: write uint32(value) or uint64(value) around it")
    return int((1 << bits) - 1)


# --- Memory ---------------------------------------------------------------------------------------------


class _Space:
    """A kind of memory; the calls that make arrays in it are told apart by where they stand."""

    space = ""
    most_bytes = 512 * 1024  # of local memory that a thread may have

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._regions: dict[int, Region] = {}

    def _fresh(self, shape: Any, dtype: Any, site: int) -> Array:
        """Return an array that holds nothing yet; a call makes arrays of one shape and type."""
        extents, kind = _extents(shape), type_named(dtype)
        taken = math.prod(extents) * kind.itemsize
        if taken > self.most_bytes:
            raise self._too_large(f"an array of {taken} bytes does not fit into {self.space} memory", site)
        known = self._regions.get(site)
        cells = [kind.poison] * math.prod(extents)
        if known is None:
            sites = self._machine.sites
            name = sites.names.get(site, f"the {self.space} array of line {sites.line(site)}")
            known = Region(
                name,
                self.space,
                Memory(kind, cells),
                extents,
                c_steps(extents),
                unset=True,
                line=sites.line(site),
            )
            self._regions[site] = known
            return whole(self._machine, known)
        if (known.shape, known.dtype) != (extents, kind):
            raise TypeError(f"{known.name} has another shape or type than in another thread")
        known.memory.cells, known.first_cell = cells, self._machine.first_of(len(cells))
        return again(self._machine, known)

    def _too_large(self, why: str, site: int) -> AccessError:
        return AccessError("memory", "", (), f"fails in line {self._machine.sites.line(site)}: {why}")


class Local(_Space):
    """``cuda.local``: every call makes an array that the running thread alone has."""

    space = "local"

    def array(self, shape: Any, dtype: Any, alignment: Any = None, *, site: int) -> Array:
        """Make the running thread's array."""
        return self._fresh(shape, dtype, site)


class Shared(_Space):
    """``cuda.shared``: all threads of a block that make the same call get the same array."""

    space = "shared"

    def __init__(self, machine: Machine, dynamic_bytes: int) -> None:
        super().__init__(machine)
        self._dynamic_bytes = dynamic_bytes
        self._of_block: dict[int, Array] = {}
        self._of_blocks: dict[int, dict[int, Array]] = {}
        self._dynamic_site: int | None = None

    def array(self, shape: Any, dtype: Any, alignment: Any = None, *, site: int) -> Array:
        """Return the block's array."""
        kind = type_named(dtype)
        if _extents(shape) == (0,):  # all calls of this shape get one and the same memory
            self._dynamic_site = site = site if self._dynamic_site is None else self._dynamic_site
            shape = self._dynamic_bytes // kind.itemsize
        found = self._of_block.get(site)
        if found is None:
            found = self._of_block[site] = self._fresh(shape, kind, site)
            self._check_size(site)
        if found.dtype is not kind:
            raise UnsupportedError("dynamic shared memory of two types")
        return found

    def enter(self, block: int) -> None:
        """Turn to the arrays of a block."""
        self._of_block = self._of_blocks.setdefault(block, {})

    def _check_size(self, site: int) -> None:
        static = (region for site, region in self._regions.items() if site != self._dynamic_site)
        taken = sum(math.prod(region.shape) * region.dtype.itemsize for region in static)
        if taken > STATIC_SHARED_LIMIT:
            why = f"the shared arrays take {taken} bytes, and a block has {STATIC_SHARED_LIMIT}"
            raise self._too_large(why, site)


class Const:
    """``cuda.const``: arrays from outside the kernel are constant in this simulator already."""

    def array_like(self, array: Any) -> Array:
        """Return the array."""
        if not isinstance(array, Array) or array._region.space != "constant":
            raise TypeError("cuda.const.array_like takes an array that the kernel has from outside")
        return array


def _extents(shape: Any) -> tuple[int, ...]:
    extents = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(extent, int) and extent >= 0 for extent in extents):
        raise TypeError(f"a shape is made of whole numbers that are not negative, not {shape}")
    return extents


# --- Atomic operations ----------------------------------------------------------------------------------


def _inc(old: Any, top: Any) -> Any:
    return 0 if old >= top else old + 1


def _dec(old: Any, top: Any) -> Any:
    return top if old == 0 or old > top else old - 1


#: From what was there and the value given to what is there afterwards.
_CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "add": rules.plus,
    "sub": rules.minus,
    "max": lambda old, new: new if new > old else old,  # NaN stays
    "min": lambda old, new: new if new < old else old,
    "nanmax": lambda old, new: old if old >= new else new,  # a number replaces NaN
    "nanmin": lambda old, new: old if old <= new else new,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "inc": _inc,
    "dec": _dec,
    "exch": lambda old, new: new,
}
_UNSIGNED = ("uint32", "uint64")
_INTEGERS = ("int32", "int64", *_UNSIGNED)
#: Types of arrays that an operation works on; what is not named takes floats as well.
_WORKS_ON: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), _INTEGERS),
    **dict.fromkeys(("inc", "dec"), _UNSIGNED),
}


class Atomic:
    """``cuda.atomic``; values are converted to the array's type first, as Numba does."""

    def __getattr__(self, name: str) -> Any:
        if name not in _CHANGES:
            raise UnsupportedError(f"cuda.atomic.{name}")
        kind = EXCHANGE if name == "exch" else ATOMIC

        def operation(array: Any, index: Any, value: Any, *, site: int) -> Any:
            return _change(_target(array, name), index, value, _CHANGES[name], site, kind)

        return _called(f"cuda.atomic.{name}", operation)

    def cas(self, array: Any, index: Any, old: Any, value: Any, *, site: int) -> Any:
        """Replace what equals `old`."""
        machine = _target(array, "cas")._machine
        machine.swaps.add(len(machine.log))
        expected = array.kept(old)
        return _change(array, index, value, lambda held, new: new if held == expected else held, site)

    def compare_and_swap(self, array: Any, old: Any, value: Any, *, site: int) -> Any:
        """Replace the first element if it equals `old`."""
        return self.cas(array, 0, old, value, site=site)


for _class, _module in {
    Cuda: "cuda", Shared: "cuda.shared", Local: "cuda.local", Atomic: "cuda.atomic",
}.items():  # fmt: skip
    for _name, _function in vars(_class).items():
        if callable(_function) and not _name.startswith("_"):
            _called(f"{_module}.{_name}", _function)


def _change(
    array: Array, index: Any, value: Any, new: Callable[[Any, Any], Any], site: int, kind: int = ATOMIC
) -> Any:
    if isinstance(index, tuple) and len(index) == 1:
        raise TypeError(
            "Numba's atomic operations take the index of an array of one axis as a number, not as (i,)"
        )
    converted = array.kept(value)
    return array.change(index, lambda old: new(old, converted), site, kind)


def _target(array: Any, operation: str) -> Array:
    if not isinstance(array, Array):
        what = described(array)
        raise TypeError(f"an atomic operation takes an array, an index and a value, not {what}")
    kinds = _WORKS_ON.get(operation, (*_INTEGERS, "float32", "float64"))
    if array.dtype.name not in kinds:
        works = f"{', '.join(kinds[:-1])} and {kinds[-1]}"
        raise TypeError(f"cuda.atomic.{operation} works on arrays of {works}, not of {array.dtype}")
    return array


# --- math, numpy and Python's own -----------------------------------------------------------------------


@dataclass(frozen=True)
class ModuleNamed:
    """A module among the constants of a kernel, by its full name."""

    name: str


class StandIn:
    """A module as a kernel sees it: only what it may use."""

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.__dict__.update(members)
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{self._name}.{name}")

    def __call__(self, *_: object, **__: object) -> Any:
        """Refuse: what there is no stand-in for may have been a function."""
        raise UnsupportedError(f"{self._name}")


def _as_argument(value: Any, result: Any) -> Any:
    """Return a result in the type of the argument: float32 stays float32, an integer becomes float64."""
    kind = type(value) if isinstance(value, float) else float
    return type_of(kind).cast(result)


def _checked(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError(f"{name} takes numbers, not {described(value)}")


def _of_reals(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of ``math`` keep float32, make float64 of integers, and never complain."""

    def apply(*values: Any) -> Any:
        _checked(name, values)
        reals = [value if isinstance(value, float) else float(value) for value in values]
        try:
            result = function(*reals)
        except ValueError:
            result = _POLES.get((name, *reals), math.nan)
        except OverflowError:
            result = math.inf
        return rules.common(tuple(reals), float(result))

    return _called(name, apply)


_POLES: dict[tuple[object, ...], float] = {
    ("math.log", 0.0): -math.inf, ("math.log2", 0.0): -math.inf, ("math.log10", 0.0): -math.inf,
    ("math.log1p", -1.0): -math.inf, ("math.atanh", 1.0): math.inf, ("math.atanh", -1.0): -math.inf,
    ("np.log", 0.0): -math.inf, ("np.log2", 0.0): -math.inf, ("np.log10", 0.0): -math.inf,
    ("math.gamma", 0.0): math.inf, ("math.lgamma", 0.0): math.inf,
}  # fmt: skip


def _to_integer(name: str, function: Callable[[Any], int]) -> Callable[[Any], int]:
    def apply(value: Any) -> int:
        _checked(name, (value,))
        return _made_whole(value, function)

    return _called(name, apply)


def _made_whole(value: Any, function: Callable[[Any], int]) -> int:
    """Return an int64: a float is made whole first, and then brought into its range."""
    if isinstance(value, float) and math.isfinite(value):
        value = float(function(value))
    whole_number: int = type_of(int).cast(value)
    return whole_number


def _truth(name: str, function: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def apply(value: Any) -> bool:
        _checked(name, (value,))
        return function(value)

    return _called(name, apply)


_CONSTANTS = {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
_MATH_NAMES = [
    "sqrt",
    "exp",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "atan2",
    "fabs",
    "hypot",
    "fmod",
    "copysign",
    "degrees",
    "radians",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
    "pow",
    "nextafter",
]
_MATH: dict[str, Any] = {
    **{name: _of_reals(f"math.{name}", getattr(math, name)) for name in _MATH_NAMES},
    "exp2": _of_reals("math.exp2", lambda x: 2.0**x),
    **{name: _to_integer(f"math.{name}", getattr(math, name)) for name in ("floor", "ceil", "trunc")},
    **{name: _truth(f"math.{name}", getattr(math, name)) for name in ("isnan", "isinf", "isfinite")},
    **_CONSTANTS,
    "ldexp": lambda value, power: _as_argument(value, math.ldexp(value, int(power))),
}


def _chosen(
    name: str, first_wins: Callable[[Any, Any], bool], *, nan_wins: bool
) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        _checked(name, (a, b))
        if math.isnan(a) or math.isnan(b):
            chosen = (a if math.isnan(a) else b) if nan_wins else (b if math.isnan(a) else a)
        else:
            chosen = a if first_wins(a, b) else b
        return rules.common((a, b), chosen)

    return _called(name, apply)


#: Of NumPy's functions only some have an implementation for the GPU.
_NUMPY: dict[str, Any] = {
    "maximum": _chosen("np.maximum", operator.ge, nan_wins=True),
    "minimum": _chosen("np.minimum", operator.le, nan_wins=True),
    "fmax": _chosen("np.fmax", operator.ge, nan_wins=False),
    "fmin": _chosen("np.fmin", operator.le, nan_wins=False),
    **{
        name: _of_reals(f"np.{name}", getattr(math, name))
        for name in ["log", "log2", "log10", "sin", "cos", "tan", "sinh"]
    },
    **{name: _of_reals(f"np.{name}", getattr(math, name)) for name in ["cosh", "tanh", "hypot"]},
    **{
        f"arc{name[1:]}": _of_reals(f"np.arc{name[1:]}", getattr(math, name))
        for name in ["asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh"]
    },
    "deg2rad": _of_reals("np.deg2rad", math.radians),
    "rad2deg": _of_reals("np.rad2deg", math.degrees),
    "isnan": _truth("np.isnan", math.isnan),
    "divide": rules.quotient,
    "true_divide": rules.quotient,
    "bitwise_and": rules.both_bits,
    "bitwise_or": rules.either_bits,
    "bitwise_xor": rules.differing_bits,
    "invert": rules.inverted,
    "left_shift": rules.left_shift,
    "right_shift": rules.right_shift,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
    "logical_not": lambda a: not a,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    **{name: kind for name, kind in NUMBER_TYPES.items() if name not in ("char", "boolean", "b1", "long_")},
    **_CONSTANTS,
}


def _extremum(name: str, choose: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*given: Any) -> Any:
        values = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
        _checked(name, values)
        numbers = values
        if len(given) == 2 and {*map(type, given)} <= {rules.Single, float}:
            # One instruction, which prefers a number to NaN; all else is compared in turn, as in Python.
            numbers = tuple(value for value in values if not math.isnan(value)) or values
        return rules.common(values, choose(numbers))

    return _called(name, apply)


def _sum(values: Any, start: Any = 0) -> Any:
    if not isinstance(values, tuple):
        raise TypeError(f"sum takes a tuple, not {described(values)}")
    return reduce(rules.plus, values, start)


def _absolute(value: Any) -> Any:
    result = abs(value)
    return type_of(type(value)).cast(result) if isinstance(value, int | float) else result


def _rounded(value: Any, digits: Any = None) -> Any:
    if digits is None:
        return _made_whole(value, round)
    return _as_argument(value, round(float(value), int(digits)))


def _power_of(a: Any, b: Any) -> Any:
    return rules.power(a, b)


def _tuple(values: Any = ()) -> tuple[Any, ...]:
    found = tuple(itertools.islice(values, _LONGEST_TUPLE + 1))
    if len(found) > _LONGEST_TUPLE:
        raise TypeError(f"a tuple of more than {_LONGEST_TUPLE} parts is more than a thread can hold")
    return found


_LONGEST_TUPLE = 1000
_EXCEPTIONS = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception)
}
#: Python's own functions that a kernel has; what it prints is dropped, or thousands of threads would.
BUILTINS: dict[str, Any] = {
    **_EXCEPTIONS,
    **{name: getattr(builtins, name) for name in ("enumerate", "len", "range", "slice", "zip")},
    "abs": _absolute,
    "bool": bool,
    "divmod": lambda a, b: (rules.floor_quotient(a, b), rules.remainder(a, b)),
    "float": NUMBER_TYPES["float64"],
    "int": NUMBER_TYPES["int64"],
    "max": _extremum("max", max),
    "min": _extremum("min", min),
    "pow": _power_of,
    "print": lambda *_, **__: None,
    "round": _rounded,
    "sum": _sum,
    "tuple": _tuple,
}


def _load(holder: Any, index: Any, site: int) -> Any:
    return holder.load(index, site) if holder.__class__ is Array else holder[index]


def _store(value: Any, holder: Any, index: Any, site: int) -> None:
    if holder.__class__ is not Array:
        raise TypeError(f"{described(holder)} has no elements that could be set")
    holder.store(value, index, site)


def _each(holder: Any, site: int) -> Any:
    if holder.__class__ is tuple:
        kinds = dict.fromkeys(type_of(type(each)).name for each in holder if isinstance(each, int | float))
        if len(kinds) > 1 and {*kinds} != {"int32", "int64"}:  # an index, which Numba has as int32, is an int
            raise TypeError(several_types([*kinds]))
    return holder.each(site) if holder.__class__ is Array else holder


def _lacking(name: str) -> Any:
    raise UnsupportedError(name)


#: What rewritten code calls besides the machine.
_HELPERS: dict[str, Any] = {
    LOAD: _load,
    STORE: _store,
    EACH: _each,
    SLICE: slice,
    LACKING: _lacking,
    PAUSE: _pause,
    FINISHED: _finished,
    **{
        f"__{folded}{name}__": getattr(rules, name) for name in OPERATIONS.values() for folded in ("", FOLDED)
    },
}


def _note_double(machine: Machine, *values: Any) -> None:
    """Note the line of an operation that makes a float64 of some values."""
    line = sys._getframe(2).f_lineno  # the operation's caller
    machine.doubles.setdefault(line, [type_of(type(each)) for each in values])


#: What a source without any import of its own may use, by full names.
USUAL_IMPORTS = {
    "cuda": "numba.cuda",
    "math": "math",
    "np": "numpy",
    "numpy": "numpy",
    "numba": "numba",
    "types": "numba.types",
    **{name: f"numba.{name}" for name in NUMBER_TYPES if name != "bool"},
}


def modules(cuda: Any) -> dict[str, Any]:
    """Return the stand-ins by the modules' full names."""
    types = StandIn("numba.types", NUMBER_TYPES)
    kinds = {name: kind for name, kind in NUMBER_TYPES.items() if name != "bool"}
    return {
        "numba.cuda": cuda,
        "numba": StandIn("numba", {**kinds, "cuda": cuda, "types": types}),
        "numba.types": types,
        "numba.core.types": types,
        "numpy": StandIn("numpy", _NUMPY),
        "math": StandIn("math", _MATH),
        "gpuguide.machine.backends": StandIn("gpuguide.machine.backends", {"cuda": cuda}),
    }


def namespace(
    machine: Machine, cuda: Cuda, imports: Mapping[str, str], constants: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the global names of a kernel for one launch."""
    known = modules(cuda)
    found: dict[str, Any] = {"__builtins__": BUILTINS, TRACER: machine, **_HELPERS}
    if machine.watches_doubles:
        # A choice makes no instruction: stored as it is, it is narrowed before it was widened.
        watched = [name for kind, name in OPERATIONS.items() if kind is not ast.IfExp]
        note = partial(_note_double, machine)
        found |= {f"__{name}__": rules.watched(getattr(rules, name), note) for name in watched}
    found |= {name: resolved(path, known) for name, path in imports.items()}
    return found | {name: _constant(machine, name, value, known) for name, value in constants.items()}


def resolved(path: str, known: Mapping[str, Any]) -> Any:
    """Return the stand-in for what was imported; what there is none for complains when it is used."""
    if path in known:
        return known[path]
    module, _, name = path.rpartition(".")
    try:
        return getattr(known[module], name)
    except (KeyError, UnsupportedError, AttributeError):
        return StandIn(path, {})


def _constant(machine: Machine, name: str, value: Any, known: Mapping[str, Any]) -> Any:
    """Return a constant as the kernel sees it: a number, a tuple, a module, or an array of a `View`."""
    match value:
        case tuple():
            return tuple(_constant(machine, name, each, known) for each in value)
        case ModuleNamed(name=module):
            return resolved(module, known)
    if isinstance(value, View):
        region = Region(name, "constant", value.memory, value.shape, value.steps, value.start)
        return whole(machine, region, constant=True)
    return value


#: Attributes that mean something in a kernel, of whatever they are asked; no others are looked up.
ATTRIBUTES = frozenset(
    {
        "x",
        "y",
        "z",
        "shape",
        "size",
        "ndim",
        "dtype",
        "itemsize",
        "nbytes",
        "strides",
        "type",
        "T",
        "transpose",
        "reshape",
    }
    | {name for name in vars(Cuda) if not name.startswith("_")}
    | {
        "gridDim",
        "blockDim",
        "threadIdx",
        "blockIdx",
        "laneid",
        "shared",
        "local",
        "const",
        "atomic",
        "array",
    }
    | {"array_like", "cas", "compare_and_swap", "cuda", "types", "core"}
    | {*_CHANGES, *WAITING, *NUMBER_TYPES, *_MATH, *_NUMPY}
)
