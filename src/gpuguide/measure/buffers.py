"""Guarded buffers: arrays with poisoned zones on both sides, which reveal accesses outside of the array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import array_module, is_device_array
from gpuguide.machine.cpu import assign, in_threads
from gpuguide.machine.memory import Space

__all__ = [
    "ALIGNMENT",
    "Buffers",
    "GuardedArray",
    "blocks",
    "first_difference",
    "pattern",
]

ALIGNMENT = 512
"""Bytes that the first element of every guarded array is aligned to, as CuPy's own arrays are."""

_MIN_GUARD, _MAX_GUARD = 1 << 16, 1 << 22
_BLOCK = 1 << 22
_COMPARED_BLOCK, _DEVICE_BLOCK = 1 << 19, 1 << 24

# Bits of the patterns by width in bytes. The two NaNs differ in their payload: this reveals a kernel that
# copies an input's guard zone over the output's, although both are NaN.
_SENTINEL_NAN = {2: 0x7E5A, 4: 0x7FC05A5A, 8: 0x7FF8005A5A5A5A5A}
_POISON_NAN = {2: 0x7E3C, 4: 0x7FC03C3C, 8: 0x7FF8003C3C3C3C3C}
_INFINITY = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}


def pattern(dtype: np.dtype[Any], role: str) -> tuple[np.dtype[Any], int]:
    """Return the bits that fill a guard zone or an output that has not been written yet."""
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or (dtype.kind == "f" and dtype.itemsize > 8):
        raise ArgumentError(
            f"Guarded arrays hold booleans, integers, floats of at most 64 bits or complex; got {dtype}."
        )
    width = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return np.dtype(f"u{width}"), _bits(dtype.kind, width, role)


def _bits(kind: str, width: int, role: str) -> int:
    if kind in "fc":
        return {"sentinel": _SENTINEL_NAN, "exact": _POISON_NAN, "random": _INFINITY}[role][width]
    if kind == "b":
        return {"sentinel": 0xA5, "exact": 1, "random": 0}[role]
    top = 1 << (8 * width - 1)
    if kind == "i":
        return {"sentinel": top, "exact": top - 1, "random": top}[role]
    # The smallest unsigned integer is 0, which is too often right, so another rare value is the sentinel.
    return {"sentinel": int("a5" * width, 16), "exact": 2 * top - 1, "random": 0}[role]


class GuardedArray:
    """A new array, aligned to 512 bytes, between two guard zones.

    The zones touch the array's first and last byte, and are at least 64 KiB and two rows long (at most
    4 MiB): a launch that forgets its bounds check writes there and nowhere else.
    """

    def __init__(self, space: Space, shape: tuple[int, ...], dtype: np.dtype[Any], role: str) -> None:
        # NumPy scalars, because a Python int beyond int64 cannot be put into a CuPy array.
        self._word, bits = pattern(dtype, role)
        self._bits = self._word.type(bits)
        self._sentinel = self._word.type(pattern(dtype, "sentinel")[1])
        n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        guard = _guard_bytes(shape, n_bytes)
        # One piece of memory, so that nothing lies between an array and its zones.
        raw = space.empty_bytes(2 * guard + n_bytes + ALIGNMENT)
        begin = guard + (-(_address(raw) + guard)) % ALIGNMENT
        end = begin + n_bytes
        self.array = raw[begin:end].view(dtype).reshape(shape)
        self._words = raw[begin:end].view(self._word)
        self._before = raw[begin - guard : begin].view(self._word)
        self._after = raw[end : end + guard].view(self._word)
        self.repaint()

    def repaint(self) -> None:
        """Fill both zones with their pattern."""
        _fill(self._before, self._bits)
        _fill(self._after, self._bits)

    def fill(self) -> None:
        """Fill the array with the sentinel."""
        _fill(self._words, self._sentinel)

    def copy_from(self, pristine: Any) -> None:
        """Copy an array of the same shape, dtype and memory into this one."""
        if is_device_array(pristine):
            self.array.data.copy_from_device_async(pristine.data, self.array.nbytes)
        else:
            assign(self.array, pristine)

    def words(self) -> Any:
        """Return the array's bits as a flat array of unsigned integers (a view)."""
        return self._words

    def untouched(self) -> bool:
        """Say whether the array still holds nothing but the sentinel."""
        return _is_full_of(self._words, self._sentinel)

    def damage(self) -> str:
        """Say which zone was written: ``"before"``, ``"after"`` or ``""``."""
        if not _is_full_of(self._before, self._bits):
            return "before"
        return "" if _is_full_of(self._after, self._bits) else "after"


def _fill(words: Any, bits: Any) -> None:
    if is_device_array(words):
        words.fill(bits)
    else:
        assign(words, bits)


def _is_full_of(words: Any, bits: Any) -> bool:
    return bool((words == bits).all())


def _guard_bytes(shape: tuple[int, ...], n_bytes: int) -> int:
    two_rows = 2 * n_bytes // shape[0] if len(shape) > 1 and shape[0] else 0
    # A multiple of the alignment, so that a zone holds whole words of every width.
    return -(-min(max(_MIN_GUARD, two_rows), _MAX_GUARD) // ALIGNMENT) * ALIGNMENT


def _address(raw: Any) -> int:
    return int(raw.ctypes.data) if isinstance(raw, np.ndarray) else int(raw.data.ptr)


class Buffers:
    """The arrays of one size in one memory: inputs with a pristine copy, and the output."""

    def __init__(
        self,
        space: Space,
        inputs: tuple[Any, ...],
        output: tuple[tuple[int, ...], np.dtype[Any]] | None,
        role: str,
    ) -> None:
        self.space = space
        # A second copy on the GPU: to upload the inputs again before each check would take far longer.
        self.pristine = tuple(space.put(x) if isinstance(x, np.ndarray) else x for x in inputs)
        self._inputs = tuple(
            GuardedArray(space, x.shape, x.dtype, role) if isinstance(x, np.ndarray) else x for x in inputs
        )
        self.output = None if output is None else GuardedArray(space, *output, role="sentinel")
        self._views: dict[str, tuple[Any, ...]] = {}
        self.restore()

    def _guarded(self) -> Iterator[tuple[int, GuardedArray, Any]]:
        for i, (guarded, pristine) in enumerate(zip(self._inputs, self.pristine, strict=True)):
            if isinstance(guarded, GuardedArray):
                yield i, guarded, pristine

    def restore(self) -> None:
        """Copy the pristine inputs back and make every guard zone whole."""
        for _, guarded, pristine in self._guarded():
            guarded.copy_from(pristine)
            guarded.repaint()
        self.blank()

    def blank(self) -> None:
        """Fill the output with its sentinel and make its guard zones whole."""
        if self.output is not None:
            self.output.fill()
            self.output.repaint()

    def reset(self) -> None:
        """Restore the first input, as a variant that changes it needs before each call."""
        # Only the first, because this runs before each sample and nothing else may have changed.
        for _, guarded, pristine in list(self._guarded())[:1]:
            guarded.copy_from(pristine)

    def first_input(self) -> Any:
        """Return the array of the first input, which a variant that `mutates` makes its result."""
        return next(self._guarded())[1].array

    def arguments(self, arrays: str, *, with_output: bool) -> tuple[Any, ...]:
        """Return what a variant is called with, the same objects each time."""
        # Made once, because making a Numba view takes the host about as long as a launch.
        if arrays not in self._views:
            self._views[arrays] = self._make_views(arrays)
        views = self._views[arrays]
        return views if with_output or self.output is None else views[:-1]

    def _make_views(self, arrays: str) -> tuple[Any, ...]:
        everything = self._inputs if self.output is None else (*self._inputs, self.output)
        wrap = self.space.wrap if arrays == "numba" else lambda array: array
        return tuple(wrap(x.array) if isinstance(x, GuardedArray) else x for x in everything)

    def changed_input(self, *, but_first: bool = False) -> tuple[int, int] | None:
        """Return position and flat index of the first input element that differs from the pristine one."""
        for i, guarded, pristine in list(self._guarded())[1 if but_first else 0 :]:
            # Bits, not numbers: even a NaN that became another NaN, or 0 that became -0, was written to.
            same_width = pristine.reshape(-1).view(guarded.words().dtype)
            index = first_difference(guarded.words(), same_width)
            if index is not None:
                # A complex number has two words.
                return i, index // max(len(same_width) // max(pristine.size, 1), 1)
        return None

    def damage(self) -> str:
        """Name the first array with a damaged guard zone: ``"before input 0"``; ``""`` if there is none."""
        named = [(f"input {i}", guarded) for i, guarded, _ in self._guarded()]
        named += [("the output", self.output)] if self.output is not None else []
        for name, guarded in named:
            side = guarded.damage()
            if side:
                return f"{side} {name}"
        return ""


def blocks(n: int, block: int = _BLOCK) -> Iterator[slice]:
    """Cut a length into slices, so that comparing big arrays needs little memory."""
    for begin in range(0, n, block):
        yield slice(begin, min(begin + block, n))


def first_difference(a: Any, b: Any) -> int | None:
    """Return the first index at which two flat arrays of one memory differ."""
    xp = array_module(a)
    if a.dtype.kind == "b":  # one that was never written holds the sentinel, which compares equal to True
        a, b = a.view(np.uint8), b.view(np.uint8)

    # Floats are compared as numbers: NaN equals NaN here, and 0 equals -0.
    def one(part: slice) -> int | None:
        different = a[part] != b[part]
        if different.any() and a.dtype.kind in "fc":
            different &= ~(xp.isnan(a[part]) & xp.isnan(b[part]))
        return int(part.start) + int(different.argmax()) if different.any() else None

    on_host = xp is np
    parts = blocks(len(a), _COMPARED_BLOCK if on_host else _DEVICE_BLOCK)
    found = in_threads(one, parts, a.nbytes if on_host else 0)
    return next((at for at in found if at is not None), None)
