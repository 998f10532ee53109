"""The memory of a launch: cells that hold typed numbers, and arrays that note every access to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

from gpuguide.exercises.simulator.findings import count, element
from gpuguide.exercises.simulator.machine import ATOMIC, READ, WRITE, AccessError, Machine, UnsupportedError
from gpuguide.exercises.simulator.number_rules import NumberType, described

__all__ = ["Array", "Memory", "Region", "View", "c_steps"]


@dataclass(eq=False)
class Memory:
    """Cells of one type, one after the other: what one array lies in, or several that overlap.

    Attributes
    ----------
    dtype : NumberType
        Type of all cells.
    cells : list
        Their values, of the class that belongs to the type.
    """

    dtype: NumberType
    cells: list[Any]


@dataclass(frozen=True)
class View:
    """An array as an argument of a launch: where its elements lie in a memory.

    Attributes
    ----------
    memory : Memory
        What it lies in. Arrays that overlap have the same.
    shape : tuple of int
        Elements along each axis.
    steps : tuple of int
        Cells from one element to the next along each axis.
    start : int
        The cell of its first element.
    byte_offset : int
        Where the memory begins in its allocation, which starts at a multiple of 256 bytes.
    unset : bool
        Whether it holds nothing yet, as an output does.
    constant : bool
        Whether it cannot be written to.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> view = View.of(NUMBER_TYPES["int32"], range(6), (2, 3))
    >>> view.steps, view.values()
    ((3, 1), [0, 1, 2, 3, 4, 5])
    """

    memory: Memory
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    start: int = 0
    byte_offset: int = 0
    unset: bool = False
    constant: bool = False

    @classmethod
    def of(cls, dtype: NumberType, values: Sequence[Any], shape: tuple[int, ...], **options: Any) -> View:
        """Return a new array in C order with values of any number type."""
        return cls(Memory(dtype, [dtype.cast(value) for value in values]), shape, c_steps(shape), **options)

    def cells(self) -> Iterator[int]:
        """Yield the cell of each element, in C order."""
        return _cells(self.start, self.shape, self.steps)

    def values(self) -> list[Any]:
        """Return the elements in C order."""
        return [self.memory.cells[cell] for cell in self.cells()]


@dataclass(eq=False)
class Region:
    """One array of a launch, as the analysis sees it."""

    name: str
    space: str
    memory: Memory
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    start: int = 0
    byte_offset: int = 0
    unset: bool = False
    line: int = 0
    number: int = 0
    first_cell: int = 0
    _elements: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def dtype(self) -> NumberType:
        """Type of its elements."""
        return self.memory.dtype

    @property
    def elements(self) -> dict[int, tuple[int, ...]]:
        """The index of the element at each cell, in C order."""
        if not self._elements:
            indices = itertools.product(*(range(extent) for extent in self.shape))
            self._elements = dict(zip(_cells(self.start, self.shape, self.steps), indices, strict=True))
        return self._elements

    def index_of(self, cell: int) -> tuple[int, ...]:
        """Return the index of the element at a cell; empty if there is none."""
        return self.elements.get(cell, ())


def c_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the elements from one to the next along each axis, the last axis fastest."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _cells(start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Iterator[int]:
    if len(shape) == 1:
        return iter([start + i * steps[0] for i in range(shape[0])])
    indices = itertools.product(*(range(extent) for extent in shape))
    return (start + sum(i * step for i, step in zip(index, steps, strict=True)) for index in indices)


class Array:
    """An array as a kernel sees it: a region of memory or a part of one."""

    def __init__(
        self,
        machine: Machine,
        region: Region,
        cells: list[Any],
        first_cell: int,
        cast: Callable[[Any], Any],
        start: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> None:
        self._machine, self._region, self._cast = machine, region, cast
        # A region has cells of its own for each block, or thread, that makes it: these are the array's.
        self._memory, self._first_cell, self._note = cells, first_cell, machine.log.append
        self._start, self.shape, self._steps = start, shape, steps
        self.ndim, self.size, self.dtype = len(shape), math.prod(shape), region.dtype

    # What a kernel may ask of an array.

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return tuple(step * self.itemsize for step in self._steps)

    @property
    def T(self) -> Array:  # noqa: N802  (NumPy's name)
        """The transpose, a view."""
        return self._view(self._start, self.shape[::-1], self._steps[::-1])

    def transpose(self) -> Array:
        """Return the transpose, a view."""
        return self.T

    def reshape(self, *shape: Any) -> Array:
        """Return a view of another shape; as in Numba, of a contiguous array only."""
        extents = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if math.prod(extents) != self.size or self._steps != c_steps(self.shape):
            raise TypeError(f"{self._region.name} cannot be given the shape {extents}")
        return self._view(self._start, extents, c_steps(extents))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self._region.name} has no axes, so it has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError(f"{self._region.name} is a whole array, neither true nor false")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{self._region.name}.{name}")

    # What rewritten code calls; `site` is the number of the place in the source.

    def load(self, index: Any, site: int) -> Any:
        """Return an element, or a view if the index has a slice or too few numbers."""
        at = self._find(index, site, "reads")
        if at.__class__ is Array:
            return at
        machine = self._machine
        self._note((self._region, at, READ, site, machine.path, machine.segment, self._first_cell + at))
        return self._memory[at]

    def store(self, value: Any, index: Any, site: int) -> None:
        """Set an element, or all elements of a view."""
        at = self._find(index, site, "writes")
        if at.__class__ is Array:
            at._fill(value, site)
            return
        kept, machine = self._cast(value), self._machine
        machine.stored[len(machine.log)] = kept
        self._note((self._region, at, WRITE, site, machine.path, machine.segment, self._first_cell + at))
        self._memory[at] = kept

    def change(self, index: Any, new: Callable[[Any], Any], site: int, kind: int = ATOMIC) -> Any:
        """Change an element in one step that nothing can divide; return what it held before."""
        at = self._find(index, site, "changes")
        if at.__class__ is Array:
            raise TypeError(f"an atomic operation changes one element, not {described(at)}")
        if self._region.space not in ("global", "shared"):
            raise TypeError(
                f"atomic operations work on global and shared memory; {self._region.name} is neither"
            )
        old, machine = self._memory[at], self._machine
        kept = self._cast(new(old))
        if kept == old:
            machine.idle.add(len(machine.log))
        else:
            machine.n_changes += 1
        self._note((self._region, at, kind, site, machine.path, machine.segment, self._first_cell + at))
        self._memory[at] = kept
        return old

    def each(self, site: int) -> Iterator[Any]:
        """Yield the elements, or the parts, along the first axis."""
        return (self.load(i, site) for i in range(len(self)))

    def kept(self, value: Any) -> Any:
        """Return what an element would keep of a value."""
        return self._cast(value)

    def _view(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Array:
        cells, first = self._memory, self._first_cell
        return Array(self._machine, self._region, cells, first, self._cast, start, shape, steps)

    def _fill(self, value: Any, site: int) -> None:
        """Set all elements, to one number or to those of an array of the same shape."""
        whole = isinstance(value, Array)
        if whole and value.shape != self.shape:
            raise TypeError(f"an array of shape {value.shape} does not fit into one of shape {self.shape}")
        machine, line = self._machine, self._machine.sites.line(site)
        outer, turn = machine.path, machine.enter()
        for index in itertools.product(*(range(extent) for extent in self.shape)):
            turn = machine.turn(turn, line)  # a loop, though it is not written as one
            self.store(value.load(index, site) if whole else value, index, site)
        machine.leave(outer)

    def _find(self, index: Any, site: int, doing: str) -> Any:
        """Return the cell that an index means, or a view."""
        if index.__class__ is int and self.ndim == 1 and 0 <= index < self.size:
            return self._start + index * self._steps[0]
        if index.__class__ is tuple and len(index) == self.ndim == 2:
            (i, j), (rows, columns) = index, self.shape
            if i.__class__ is int and j.__class__ is int and 0 <= i < rows and 0 <= j < columns:
                return self._start + i * self._steps[0] + j * self._steps[1]
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, EllipsisType) for part in parts):
            first = parts.index(...)
            parts = (*parts[:first], *[slice(None)] * (self.ndim - len(parts) + 1), *parts[first + 1 :])
        if len(parts) > self.ndim:
            axes = "1 axis" if self.ndim == 1 else f"{self.ndim} axes"
            raise TypeError(f"{self._region.name} has {axes}, and the index has {len(parts)} numbers")
        start, shape, steps = self._start, list(self.shape[len(parts) :]), list(self._steps[len(parts) :])
        for axis, part in reversed(list(enumerate(parts))):
            if isinstance(part, slice):
                taken = range(*part.indices(self.shape[axis]))
                start += taken.start * self._steps[axis] if taken else 0
                shape.insert(0, len(taken))
                steps.insert(0, taken.step * self._steps[axis])
            elif part.__class__ is int and 0 <= part < self.shape[axis]:
                start += part * self._steps[axis]
            else:
                start += self._position(axis, parts, site, doing) * self._steps[axis]
        return self._view(start, tuple(shape), tuple(steps)) if shape else start

    def _position(self, axis: int, parts: tuple[Any, ...], site: int, doing: str) -> int:
        """Check the number along one axis; a negative one counts from the end, as in Numba."""
        part, extent = parts[axis], self.shape[axis]
        if not isinstance(part, int):
            advice = "; use // for an integer quotient" if isinstance(part, float) else ""
            shown = str(part) if isinstance(part, float | str) else described(part)
            raise TypeError(f"{self._region.name} is indexed by {shown}, which is no integer{advice}")
        number = int(part)
        if 0 <= number < extent:
            return number
        asked: tuple[Any, ...] = tuple(each if isinstance(each, slice) else int(each) for each in parts)
        index = () if self._is_part or any(isinstance(each, slice) for each in asked) else asked
        name, line = self._shown_name, self._machine.sites.line(site)
        if not -extent <= number < 0:
            what = f"{doing} {element(name, asked)} in line {line}, but {_extent(name, self.shape)}"
            raise AccessError("out_of_range", self._region.name, index, what)
        if (site, axis) not in self._machine.sites.from_the_end:
            meant = (*asked[:axis], number + extent, *asked[axis + 1 :])
            what = (
                f"{doing} {element(name, asked)} in line {line}; Numba silently counts a negative index from "
                f"the end: this is {element(name, meant)}"
            )
            self._machine.remark(AccessError("negative_index", self._region.name, index, what), line)
        return number + extent

    @property
    def _is_part(self) -> bool:
        region = self._region
        return (self._start, self.shape, self._steps) != (region.start, region.shape, region.steps)

    @property
    def _shown_name(self) -> str:
        return f"(a part of {self._region.name})" if self._is_part else self._region.name

    def _refuse_whole(self, *_: object) -> Any:
        raise TypeError(f"{self._region.name} is a whole array; a kernel computes with single elements")


for _operation in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"):
    setattr(Array, f"__{_operation}__", Array._refuse_whole)
    setattr(Array, f"__r{_operation}__", Array._refuse_whole)
for _operation in ("lt", "le", "gt", "ge", "neg", "abs", "float", "int"):
    setattr(Array, f"__{_operation}__", Array._refuse_whole)


def whole(machine: Machine, region: Region, *, constant: bool = False) -> Array:
    """Return the array that is a whole region, which the machine knows from here on."""
    twin = next((known for known in machine.regions if known.memory is region.memory), None)
    region.first_cell = machine.first_of(len(region.memory.cells)) if twin is None else twin.first_cell
    region.number = len(machine.regions)
    machine.regions.append(region)
    return again(machine, region, constant=constant)


def again(machine: Machine, region: Region, *, constant: bool = False) -> Array:
    """Return the array that is a whole region which the machine knows."""

    def refuse(_: Any) -> Any:
        raise TypeError(f"{region.name} cannot be written to")

    cast = refuse if constant else region.dtype.cast
    cells, first = region.memory.cells, region.first_cell
    return Array(machine, region, cells, first, cast, region.start, region.shape, region.steps)


def _extent(name: str, shape: Sequence[int]) -> str:
    """Say how large an array is."""
    if 0 in shape:
        return f"{name} has no elements"
    if len(shape) > 1:
        return f"{name} has the shape {tuple(shape)}"
    return f"{name} has {count(shape[0], 'element')}, the last of which is {name}[{shape[0] - 1}]"
