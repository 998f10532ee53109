"""The arrays of a host as a kernel sees them: in place where their memory can be read, else as a copy.

NumPy is not imported: an array that is handed in brings its own methods along.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.tracer.memory import Array, Memory, array, c_steps
from gpuguide.tracer.numbers import DType, dtype_of

__all__ = ["Arguments"]

#: Of a memory view, by the name of the type.
_FORMATS = {
    "float32": "f", "float64": "d", "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}  # fmt: skip


class _Buffer:
    """Cells that lie in the memory of another array."""

    def __init__(self, view: memoryview, dtype: DType) -> None:
        self._view, self._make = view, dtype.make

    def __getitem__(self, cell: int) -> Any:
        return self._make(self._view[cell])

    def __setitem__(self, cell: int, value: Any) -> None:
        self._view[cell] = value

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, self._view)


class Arguments:
    """Makes the arguments of a launch; `give_back` copies results where an array is not used in place."""

    def __init__(self) -> None:
        self._memories: dict[int, tuple[Any, Memory]] = {}
        self._copies: list[Callable[[], None]] = []

    def give_back(self) -> None:
        """Hand the results to the arrays that were copied."""
        for copy in self._copies:
            copy()

    def convert(self, value: Any, position: int) -> Any:
        """Return an argument as the tracer takes it."""
        if value is None or isinstance(value, Array | bool | int | float):
            return value
        if isinstance(value, tuple):
            return tuple(self.convert(item, position) for item in value)
        if isinstance(value, list):
            return self._of_list(value)
        if hasattr(value, "copy_to_host") and not hasattr(value, "get"):  # an array of Numba on the GPU
            return self._of_device(value, value.copy_to_host(), value.copy_to_device)
        if hasattr(value, "get") and hasattr(value, "set") and not hasattr(value, "__array_interface__"):
            return self._of_device(value, value.get(), value.set)  # one of CuPy
        if hasattr(value, "dtype"):
            return self._of_numpy(value, position)
        kind = "complex numbers are" if isinstance(value, complex) else f"{type(value).__name__} is"
        raise ArgumentError(
            f"Argument {position + 1}: {kind} not known to the tracer, only arrays and numbers."
        )

    def _of_list(self, value: list[Any]) -> Array:
        numbers = _numbers(value)
        made = array(value, "float64" if any(isinstance(each, float) for each in numbers) else "int64")

        def copy() -> None:
            value[:] = made.tolist()

        self._copies.append(copy)
        return made

    def _of_device(self, value: Any, host: Any, put: Callable[[Any], Any]) -> Any:
        made = self._of_numpy(host, 0)
        self._copies.append(partial(put, host))
        return made

    def _of_numpy(self, value: Any, position: int) -> Any:
        if value.dtype.names or value.dtype.kind in "cOSUVmM":
            raise ArgumentError(
                f"Argument {position + 1}: arrays of the type {value.dtype} are not known to the tracer. It "
                "knows numbers: float16, float32, float64, bool, and integers of 8 to 64 bits."
            )
        kind = dtype_of(value.dtype.name)
        if (value.shape == () and not hasattr(value, "flags")) or not hasattr(value, "base"):
            return kind(value.item())
        if (value.shape == () and not value.flags.owndata) or not value.flags.writeable:
            return array(value, kind, value.shape)
        root = value
        while hasattr(root.base, "dtype") and root.base.dtype == value.dtype:
            root = root.base
        if kind.name not in _FORMATS or not value.size or not root.flags.forc:
            return self._copied(value, kind)
        memory = self._memory(root, kind)
        start = value.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        steps = tuple(step // kind.itemsize for step in value.strides)
        return Array(memory, value.shape, steps, start // kind.itemsize)

    def _memory(self, root: Any, kind: DType) -> Memory:
        """Return the memory of an array; the same for all that are views of it."""
        known = self._memories.get(id(root))
        if known is None:
            flat = root if root.flags.c_contiguous else root.T
            view = memoryview(flat).cast("B").cast(_FORMATS[kind.name])  # type: ignore[call-overload]
            known = self._memories[id(root)] = root, Memory(kind, _Buffer(view, kind))  # type: ignore[arg-type]
        return known[1]

    def _copied(self, value: Any, kind: DType) -> Array:
        flat = value.reshape(-1).tolist()
        made = Array(Memory(kind, [kind(each) for each in flat]), value.shape, c_steps(value.shape))

        def copy() -> None:
            if math.prod(value.shape):
                value[...] = made.tolist()

        self._copies.append(copy)
        return made


def _numbers(value: Any) -> list[Any]:
    return [each for item in value for each in _numbers(item)] if isinstance(value, list) else [value]
