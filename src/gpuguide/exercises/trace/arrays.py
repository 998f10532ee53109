"""Arrays that note every access: which element, and where in the source."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from sys import _getframe as frame_above
from types import EllipsisType, FrameType
from typing import Any

import numpy as np

from gpuguide.exercises.trace.events import ADDRESS_SHIFT, ATOMIC, LINE_SHIFT, OFFSET_SHIFT, READ, WRITE
from gpuguide.exercises.trace.faults import AccessError, UnsupportedError
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.regions import Region, c_steps
from gpuguide.exercises.trace.scalars import caster, described
from gpuguide.exercises.trace.wording import out_of_range, wraps_around

__all__ = ["TracedArray", "whole"]


class TracedArray:
    """An array as a kernel sees it: a region of memory or a part of one.

    Parameters
    ----------
    machine : Machine
        Whose log the accesses go to.
    region : Region
        Whose elements these are.
    cells : list
        The memory, which other views share.
    cast : callable
        Makes of a number what a store keeps of it.
    start : int
        The cell of the first element.
    shape, steps : tuple of int
        Elements along each axis, and the cells from one to the next.
    """

    # NumPy's scalars leave arithmetic with a whole array to the array, which refuses it.
    __array_ufunc__ = None

    def __init__(
        self,
        machine: Machine,
        region: Region,
        cells: list[Any],
        cast: Callable[[Any], Any],
        start: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> None:
        self.machine, self.region, self.cells, self.cast = machine, region, cells, cast
        self.start, self.shape, self.steps = start, shape, steps
        self.note = machine.log.append
        self.origin = region.base << ADDRESS_SHIFT
        self.ndim, self.size, self.dtype = len(shape), math.prod(shape), region.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return tuple(step * self.itemsize for step in self.steps)

    @property
    def T(self) -> TracedArray:  # noqa: N802  (NumPy's name)
        """The transpose, a view."""
        return self._view(self.start, self.shape[::-1], self.steps[::-1])

    def transpose(self) -> TracedArray:
        """Return the transpose, a view."""
        return self.T

    def reshape(self, *shape: Any) -> TracedArray:
        """Return a view of another shape; as in Numba, of a contiguous array only."""
        extents = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if math.prod(extents) != self.size or self.steps != c_steps(self.shape):
            raise TypeError(f"{self.region.name} cannot be given the shape {extents}")
        return self._view(self.start, extents, c_steps(extents))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self.region.name} has no axes, so it has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError(f"{self.region.name} is a whole array, neither true nor false")

    def __iter__(self) -> Iterator[Any]:
        frame = frame_above(1)
        return (self.load(i, frame) for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{self.region.name}.{name}")

    def __getitem__(self, index: Any) -> Any:
        return self.load(index, frame_above(1))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(index, value, frame_above(1))

    def load(self, index: Any, frame: FrameType) -> Any:
        """Return an element, or a view if the index has a slice or too few numbers."""
        at = self._find(index, frame, "reads")
        if isinstance(at, TracedArray):
            return at
        self.note(self._event(at, frame) + READ)
        return self.cells[at]

    def store(self, index: Any, value: Any, frame: FrameType) -> None:
        """Set an element, or all elements of a view."""
        at = self._find(index, frame, "writes")
        if isinstance(at, TracedArray):
            at._fill(value, frame)
            return
        kept = self.cast(value)
        self.note(self._event(at, frame) + WRITE)
        self.cells[at] = kept

    def change(self, index: Any, new: Callable[[Any], Any], frame: FrameType, kind: int = ATOMIC) -> Any:
        """Change an element in one step that nothing can divide; return what it held before."""
        at = self._find(index, frame, "changes")
        if isinstance(at, TracedArray):
            raise TypeError(f"an atomic operation changes one element, not {described(at)}")
        if self.region.space not in ("global", "shared"):
            raise TypeError(
                f"atomic operations work on global and shared memory; {self.region.name} is neither"
            )
        old = self.cells[at]
        kept = self.cast(new(old))
        self.note(self._event(at, frame) + kind)
        self.cells[at] = kept
        return old

    def _event(self, at: int, frame: FrameType) -> int:
        return (
            self.origin
            + (at << ADDRESS_SHIFT)
            + (frame.f_code.co_firstlineno << LINE_SHIFT)
            + (frame.f_lasti << OFFSET_SHIFT)
        )

    def _view(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> TracedArray:
        return _traced(self.machine, self.region, self.cells, self.cast, start, shape, steps)

    def _fill(self, value: Any, frame: FrameType) -> None:
        """Set all elements, to one number or to those of an array of the same shape."""
        whole = isinstance(value, TracedArray)
        if whole and value.shape != self.shape:
            raise TypeError(f"an array of shape {value.shape} does not fit into one of shape {self.shape}")
        for index in itertools.product(*(range(extent) for extent in self.shape)):
            self.store(index, value.load(index, frame) if whole else value, frame)

    def _find(self, index: Any, frame: FrameType, doing: str) -> int | TracedArray:
        """Return the cell that an index means, or a view."""
        parts = index if type(index) is tuple else (index,)
        if any(isinstance(part, EllipsisType) for part in parts):
            first = parts.index(...)
            parts = (*parts[:first], *[slice(None)] * (self.ndim - len(parts) + 1), *parts[first + 1 :])
        if len(parts) > self.ndim:
            axes = "1 axis" if self.ndim == 1 else f"{self.ndim} axes"
            raise TypeError(f"{self.region.name} has {axes}, and the index has {len(parts)} numbers")
        start, shape, steps = self.start, list(self.shape[len(parts) :]), list(self.steps[len(parts) :])
        for axis, part in reversed(list(enumerate(parts))):
            if isinstance(part, slice):
                taken = range(*part.indices(self.shape[axis]))
                start += taken.start * self.steps[axis] if taken else 0
                shape.insert(0, len(taken))
                steps.insert(0, taken.step * self.steps[axis])
            else:
                start += self._position(axis, parts, frame, doing) * self.steps[axis]
        return self._view(start, tuple(shape), tuple(steps)) if shape else start

    def _position(self, axis: int, parts: tuple[Any, ...], frame: FrameType, doing: str) -> int:
        """Check the number along one axis; a negative one counts from the end, as in Numba."""
        part, extent = parts[axis], self.shape[axis]
        try:
            number = operator.index(part)
        except TypeError:
            advice = "; use // for an integer quotient" if isinstance(part, float | np.floating) else ""
            raise TypeError(
                f"{self.region.name} is indexed by {part!s}, which is no integer{advice}"
            ) from None
        if 0 <= number < extent:
            return number
        asked: tuple[Any, ...] = tuple(
            each if isinstance(each, slice) else operator.index(each) for each in parts
        )
        index = () if self._is_part or any(isinstance(each, slice) for each in asked) else asked
        name, place = self._shown_name, self.machine.place(frame)
        if not -extent <= number < 0:
            what = out_of_range(doing, name, asked, self.shape, place.line)
            raise AccessError("out_of_range", self.region.name, index, what)
        if (place, axis) not in self.machine.sites.from_the_end:
            meant = (*asked[:axis], number + extent, *asked[axis + 1 :])
            what = wraps_around(doing, name, asked, meant, place.line)
            self.machine.remark(AccessError("negative_index", self.region.name, index, what), place.line)
        return number + extent

    @property
    def _is_part(self) -> bool:
        region = self.region
        return (self.start, self.shape, self.steps) != (region.start, region.shape, region.steps)

    @property
    def _shown_name(self) -> str:
        return f"(a part of {self.region.name})" if self._is_part else self.region.name


class _Vector(TracedArray):
    """One axis: the common case, written out for speed."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.extent, self.step = self.shape[0], self.steps[0]

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int and 0 <= index < self.extent:
            at = self.start + index * self.step
            frame = frame_above(1)
            self.note(
                self.origin  # READ is 0
                + (at << ADDRESS_SHIFT)
                + (frame.f_code.co_firstlineno << LINE_SHIFT)
                + (frame.f_lasti << OFFSET_SHIFT)
            )
            return self.cells[at]
        return self.load(index, frame_above(1))

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is int and 0 <= index < self.extent:
            kept = self.cast(value)
            at = self.start + index * self.step
            self.note(self._event(at, frame_above(1)) + WRITE)
            self.cells[at] = kept
        else:
            self.store(index, value, frame_above(1))


class _Matrix(TracedArray):
    """Two axes, the other common case."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        (self.rows, self.columns), (self.row_step, self.column_step) = self.shape, self.steps

    def __getitem__(self, index: Any) -> Any:
        if type(index) is tuple and len(index) == 2:
            row, column = index
            if type(row) is type(column) is int and 0 <= row < self.rows and 0 <= column < self.columns:
                at = self.start + row * self.row_step + column * self.column_step
                frame = frame_above(1)
                self.note(
                    self.origin  # READ is 0
                    + (at << ADDRESS_SHIFT)
                    + (frame.f_code.co_firstlineno << LINE_SHIFT)
                    + (frame.f_lasti << OFFSET_SHIFT)
                )
                return self.cells[at]
        return self.load(index, frame_above(1))


_BY_AXES: dict[int, type[TracedArray]] = {1: _Vector, 2: _Matrix}


def _traced(
    machine: Machine,
    region: Region,
    cells: list[Any],
    cast: Callable[[Any], Any],
    start: int,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
) -> TracedArray:
    """Return the array of the class that serves its number of axes best."""
    kind = _BY_AXES.get(len(shape), TracedArray)
    return kind(machine, region, cells, cast, start, shape, steps)


def whole(machine: Machine, region: Region, cells: list[Any], *, constant: bool = False) -> TracedArray:
    """Return the array that is a whole region."""
    cast = _refusal(region.name) if constant else caster(region.dtype)
    return _traced(machine, region, cells, cast, region.start, region.shape, region.steps)


def _refusal(name: str) -> Callable[[Any], Any]:
    def refuse(_: Any) -> Any:
        raise TypeError(f"{name} cannot be written to")

    return refuse


def _refuse_whole(self: TracedArray, *_: object) -> Any:
    raise TypeError(f"{self.region.name} is a whole array; a kernel computes with single elements")


for _operation in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"):
    setattr(TracedArray, f"__{_operation}__", _refuse_whole)
    setattr(TracedArray, f"__r{_operation}__", _refuse_whole)
for _operation in ("lt", "le", "gt", "ge", "neg", "abs", "float", "int"):
    setattr(TracedArray, f"__{_operation}__", _refuse_whole)
