"""The memory of a launch: arrays that note every access, with the instruction and the thread that made it."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from gpuguide.errors import ArgumentError
from gpuguide.tracer.numbers import DType, dtype_of

__all__ = ["ATOMIC", "GUESS", "READ", "WRITE", "Access", "Array", "KernelError", "Memory", "Remark", "log"]

READ, WRITE, ATOMIC = "reads", "writes", "atomically changes"
#: A read that a compare-and-swap of its thread checks afterwards: an atomic operation between does no harm.
GUESS = "guesses"
#: How far back the read lies that a compare-and-swap checks.
_BACK = 64

#: The number of a place in the source: an expression of a statement.
Site = int


class KernelError(Exception):
    """What ends a thread: the kind of finding, and what is to be said of it."""

    def __init__(self, kind: str, text: str = "", line: int = 0) -> None:
        self.kind, self.text, self.line = kind, text, line
        super().__init__(text)


class Access(NamedTuple):
    """One access of a thread to one cell.

    `site` is the place in the source, `thread` the number of the thread in the grid, `epoch` how many
    barriers its block had passed, `phase` how many operations of its warp since, and `path` stands for the
    turns of the loops around it.
    """

    array: Array
    cell: int
    kind: str
    site: Site
    thread: int
    epoch: int
    phase: int
    value: Any
    path: int


class Remark(NamedTuple):
    """What a thread did wrong by itself."""

    kind: str
    site: Site
    thread: int
    text: str
    array: str = ""
    element: tuple[int, ...] = ()
    doing: str = ""


class Running(Protocol):
    """What the log must know of the thread that runs."""

    number: int
    phase: int
    path: int


class Log:
    """The accesses and remarks of the launch in progress, and who runs in it."""

    def __init__(self) -> None:
        self.thread: Running | None = None
        self.start({})

    def start(self, sites: Mapping[int, Sequence[Site]]) -> None:
        """Begin anew, for a launch of functions whose instructions have these places."""
        self.sites = sites
        self.thread = None
        self.epoch = 0
        self.accesses: list[Access] = []
        self.remarks: list[Remark] = []

    def site(self) -> Site:
        """Return the place of the kernel that is being executed."""
        frame: Any = sys._getframe(2)
        while (sites := self.sites.get(id(frame.f_code))) is None:
            frame = frame.f_back
        site: Site = sites[frame.f_lasti >> 1]
        return site

    def remark(self, kind: str, text: str, **where: Any) -> None:
        """Note what the running thread does wrong."""
        if self.thread is not None:
            self.remarks.append(Remark(kind, self.site(), self.thread.number, text, **where))

    def check_guess(self, memory: Memory, cell: int) -> None:
        """Let the last read of a cell, which a compare-and-swap of its thread checks now, be a guess."""
        accesses = self.accesses
        assert self.thread is not None
        for place in range(len(accesses) - 1, max(-1, len(accesses) - _BACK), -1):
            access = accesses[place]
            if access.thread != self.thread.number:
                return
            if access.cell == cell and access.array.memory is memory and access.kind == READ:
                accesses[place] = access._replace(kind=GUESS)
                return


log = Log()
_new_access = tuple.__new__


class Memory:
    """Cells of one type, one after the other: what one array lies in, or several that overlap."""

    __slots__ = ("cells", "dtype", "space", "written")

    def __init__(self, dtype: DType, cells: list[Any], space: str = "global", *, unset: bool = False) -> None:
        self.dtype, self.cells, self.space = dtype, cells, space
        #: The cells that were written, where nothing was at first.
        self.written: set[int] | None = set() if unset else None


#: Methods of NumPy's arrays, some of which Numba has in kernels.
_METHODS = (
    "all", "any", "argmax", "argmin", "astype", "copy", "fill", "flat", "flatten", "item", "max", "mean",
    "min", "prod", "ravel", "sort", "std", "sum", "transpose", "var",
)  # fmt: skip


class Array:
    """An array of one to three axes, or a view of one; what a kernel does to it is noted."""

    __slots__ = ("_first", "_step", "memory", "name", "ndim", "shape", "size", "start", "steps")

    def __init__(
        self, memory: Memory, shape: Sequence[int], steps: Sequence[int], start: int = 0, name: str = ""
    ) -> None:
        self.memory, self.shape, self.steps, self.start, self.name = (
            memory, tuple(shape), tuple(steps), start, name
        )  # fmt: skip
        self.ndim, self.size = len(self.shape), math.prod(self.shape)
        # For an index of one number, which is the most frequent.
        self._first, self._step = (self.shape[0], self.steps[0]) if self.ndim == 1 else (0, 0)

    dtype = property(lambda self: self.memory.dtype)
    itemsize = property(lambda self: self.memory.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    strides = property(lambda self: tuple(step * self.itemsize for step in self.steps))
    T = property(lambda self: self._view(self.shape[::-1], self.steps[::-1], self.start))

    def _view(self, shape: Sequence[int], steps: Sequence[int], start: int) -> Array:
        return Array(self.memory, shape, steps, start, self.name)

    def reshape(self, *shape: Any) -> Array:
        """Return a view of another shape; only of an array in C order."""
        shape = tuple(shape[0]) if isinstance(shape[0], tuple | list) else shape
        if -1 in shape:
            rest = -math.prod(shape)
            shape = tuple(self.size // rest if extent == -1 else extent for extent in shape)
        if not self.contiguous or math.prod(shape) != self.size:
            raise TypeError(f"an array of the shape {self.shape} cannot be reshaped to {shape}")
        return self._view(shape, c_steps(shape), self.start)

    @property
    def contiguous(self) -> bool:
        """Whether its elements lie one after the other, in C order."""
        own = zip(self.shape, self.steps, c_steps(self.shape), strict=True)
        return self.size == 0 or all(extent == 1 or step == right for extent, step, right in own)

    def cells(self) -> list[int]:
        """Return the cell of each element, in C order."""
        places = [self.start]
        for extent, step in zip(self.shape, self.steps, strict=True):
            places = [place + i * step for place in places for i in range(extent)]
        return places

    def index_of(self, cell: int) -> tuple[int, ...]:
        """Return the index of the element in a cell; empty if there is none."""
        left, index = cell - self.start, [0] * self.ndim
        for axis in sorted(range(self.ndim), key=lambda axis: -abs(self.steps[axis])):
            step = self.steps[axis] or 1
            index[axis] = left // step
            left -= index[axis] * step
        inside = all(0 <= i < extent for i, extent in zip(index, self.shape, strict=True))
        return tuple(index) if inside and not left else ()

    def cell(self, index: Sequence[int]) -> int:
        """Return the cell of an element."""
        return self.start + sum(i * step for i, step in zip(index, self.steps, strict=True))

    def index(self, place: int) -> tuple[int, ...]:
        """Return the index of the element at a place in C order."""
        return tuple(
            place // step % extent for step, extent in zip(c_steps(self.shape), self.shape, strict=True)
        )

    def place(self, index: Sequence[int]) -> int:
        """Return the place of an element in C order."""
        return sum(i * step for i, step in zip(index, c_steps(self.shape), strict=True))

    def values(self) -> list[Any]:
        """Return the elements in C order, as Python's own numbers."""
        plain = {"f": float, "b": bool}.get(self.dtype.name[0], int)
        return [plain(self.memory.cells[cell]) for cell in self.cells()]

    def tolist(self) -> Any:
        """Return the elements as Python's own numbers, in lists within lists."""
        values: list[Any] = self.values()
        for extent in self.shape[:0:-1]:
            values = [values[at : at + extent] for at in range(0, len(values), extent)] if extent else [
                [] for _ in range(self.shape[0])
            ]  # fmt: skip
        return values if self.shape else values[0]

    def __getattr__(self, name: str) -> Any:
        if log.thread is None and name in _COPIES:
            return partial(_COPIES[name], self)
        own = self.name or "an array"
        if name in _METHODS:
            raise AttributeError(f"{own}.{name} is not known to the tracer")
        raise AttributeError(f"{own} is an array, which has no .{name}; it has .shape, .size and .ndim")

    def _whole(self, *_: Any) -> Any:
        own = self.name or "this"
        if log.thread is None:
            raise TypeError(f"{own} is an array, which has no arithmetic without NumPy: make it from a list")
        raise TypeError(f"{own} is an array here, and a kernel computes with single elements")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _whole
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _whole
    __lt__ = __le__ = __gt__ = __ge__ = __float__ = _whole

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"array({self.tolist()}, {self.dtype.name})"

    def _cell(self, index: Any, doing: str) -> int | Array:
        """Return the cell of an element, or a view where the index leaves axes."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) > self.ndim:
            axes = "1 axis" if self.ndim == 1 else f"{self.ndim} axes"
            raise TypeError(f"{self.name} has {axes}, and the index has {len(parts)} numbers")
        start, shape, steps = self.start, [], []
        for part, extent, step in zip(parts, self.shape, self.steps, strict=False):
            if isinstance(part, slice):
                chosen = range(*part.indices(extent))
                start += chosen.start * step if chosen else 0
                shape.append(len(chosen))
                steps.append(step * chosen.step)
                continue
            if not isinstance(part, int):
                what = f"{part!r}, which is no integer; // gives integers"
                if callable(part):
                    what = f"{getattr(part, '__qualname__', part)}, a function that is not called"
                elif not isinstance(part, float):
                    what = repr(part)
                raise TypeError(f"{self.name} is indexed by {what}")
            place = int(part)
            if not -extent <= place < extent:
                self._out_of_range(parts, doing)
            if place < 0:
                self._negative(parts, doing)
                place += extent
            start += place * step
        shape += self.shape[len(parts) :]
        steps += self.steps[len(parts) :]
        return self._view(shape, steps, start) if shape else start

    def _out_of_range(self, parts: tuple[Any, ...], doing: str) -> None:
        index = tuple(part if isinstance(part, int) else 0 for part in parts)
        if log.thread is None:
            raise IndexError(f"index {index} is outside an array of the shape {self.shape}")
        log.remark("out_of_range", "", array=self.name, element=index, doing=doing)
        raise KernelError("out_of_range")

    def _negative(self, parts: tuple[Any, ...], doing: str) -> None:
        index = tuple(part if isinstance(part, int) else 0 for part in parts)
        log.remark("negative_index", "", array=self.name, element=index, doing=doing)

    def _note(self, cell: int, kind: str, value: Any) -> None:
        thread = log.thread
        if thread is None:
            return
        frame: Any = sys._getframe(2)
        while (sites := log.sites.get(id(frame.f_code))) is None:
            frame = frame.f_back
        log.accesses.append(
            _new_access(
                Access,
                (
                    self, cell, kind, sites[frame.f_lasti >> 1], thread.number, log.epoch,
                    thread.phase, value, thread.path,
                ),
            )
        )  # fmt: skip

    def _unset(self, cell: int, doing: str) -> None:
        log.remark("uninitialised", "", array=self.name, element=self.index_of(cell), doing=doing)

    def __getitem__(self, index: Any) -> Any:
        if index.__class__ is int and 0 <= index < self._first:
            cell: Any = self.start + index * self._step
        else:
            cell = self._cell(index, READ)
            if cell.__class__ is Array:
                return cell
        memory = self.memory
        self._note(cell, READ, None)
        if memory.written is not None and cell not in memory.written:
            self._unset(cell, READ)
        return memory.cells[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        if index.__class__ is int and 0 <= index < self._first:
            cell: Any = self.start + index * self._step
        else:
            cell = self._cell(index, WRITE)
            if cell.__class__ is Array:
                _fill(cell, value)
                return
        memory = self.memory
        stored = memory.dtype(value)
        memory.cells[cell] = stored
        self._note(cell, WRITE, stored)
        if memory.written is not None:
            memory.written.add(cell)

    def change(self, index: Any, new: Callable[[Any], Any], guess: Any = None) -> Any:
        """Change an element in one step; return what it held before."""
        cell: Any = self._cell(index, ATOMIC)
        if cell.__class__ is Array:
            raise TypeError(f"an atomic operation takes one element of {self.name}, not a part of it")
        memory = self.memory
        old = memory.cells[cell]
        if memory.written is not None:
            if cell not in memory.written:
                self._unset(cell, ATOMIC)
            memory.written.add(cell)
        if guess is not None:
            log.check_guess(memory, cell)
        memory.cells[cell] = memory.dtype(new(old))
        self._note(cell, ATOMIC, None)
        return old


def _fill(view: Array, value: Any) -> None:
    for index in itertools.product(*map(range, view.shape)):
        if isinstance(value, Array):
            view[index] = value[index[-value.ndim :]]
        else:
            view[index] = value


def _copy(values: Array, dtype: Any = None) -> Array:
    return array(values.values(), dtype or values.dtype.name, values.shape)


def _copy_to_host(values: Array, out: Any = None, *_: Any, **__: Any) -> Any:
    if out is None:
        return _copy(values)
    out[:] = values
    return out


def _copy_to_device(own: Array, values: Any, *_: Any) -> None:
    own[:] = values


#: Of hosts without NumPy, whose arrays are these ones: methods of NumPy's, Numba's and CuPy's.
_COPIES: dict[str, Callable[..., Any]] = {
    "copy": _copy,
    "astype": _copy,
    "copy_to_host": _copy_to_host,
    "get": _copy_to_host,
    "copy_to_device": _copy_to_device,
    "set": _copy_to_device,
}


def c_steps(shape: Sequence[int]) -> tuple[int, ...]:
    """Return how many cells lie between neighbours along each axis, in C order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def array(values: Any, dtype: Any = "float32", shape: Sequence[int] | int | None = None) -> Array:
    """Make an array of numbers in a list, flat or in lists within lists."""
    kind = dtype_of(dtype)
    flat, own_shape = _flat(values.tolist() if hasattr(values, "tolist") else values)
    size = (shape,) if isinstance(shape, int) else own_shape if shape is None else tuple(shape)
    if math.prod(size) != len(flat):
        raise ArgumentError(f"An array of the shape {size} has {math.prod(size)} elements; got {len(flat)}.")
    return Array(Memory(kind, [kind(value) for value in flat]), size, c_steps(size))


def empty(shape: Sequence[int] | int, dtype: Any = "float32") -> Array:
    """Make an array to which nothing was written yet: a kernel that reads it makes a mistake."""
    kind = dtype_of(dtype)
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    return Array(Memory(kind, [kind.poison] * math.prod(size), unset=True), size, c_steps(size))


def _flat(values: Any) -> tuple[list[Any], tuple[int, ...]]:
    shape: list[int] = []
    level = values
    while isinstance(level, list | tuple | range):
        shape.append(len(level))
        level = level[0] if len(level) else None
    flat = list(values)
    for _ in shape[1:]:
        flat = [value for row in flat for value in row]
    return flat, tuple(shape)
