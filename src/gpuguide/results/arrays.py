"""A small array as data: what a page shows as a picture, kept so that drawing it needs no GPU."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.results.records import one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_ARRAY_BYTES", "KeptArray"]

MOST_ARRAY_BYTES = 128 * 1024
"""The most bytes for all arrays of a page together."""

_MOST_AXES = 8
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@dataclass(frozen=True)
class KeptArray:
    """An array of numbers, written down."""

    dtype: str = field(metadata=one_of(*_DTYPES))
    shape: tuple[int, ...]
    data: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.dtype not in _DTYPES:
            raise ArgumentError(f"KeptArray.dtype: expected one of {', '.join(_DTYPES)}; got {self.dtype!r}.")
        if len(self.shape) > _MOST_AXES or any(n < 0 for n in self.shape):
            raise ArgumentError(
                f"KeptArray.shape: expected at most {_MOST_AXES} lengths; got {self.shape[: _MOST_AXES + 1]}."
            )
        wanted = math.prod(self.shape) * np.dtype(self.dtype).itemsize
        if wanted > MOST_ARRAY_BYTES:
            raise ArgumentError(f"KeptArray: expected at most {MOST_ARRAY_BYTES} bytes; got {wanted}.")
        n = sum(map(len, self.data))
        # Base64 writes three bytes as four letters: a wrong length is refused before anything is decoded.
        if n != 4 * -(-wanted // 3):
            raise ArgumentError(
                f"KeptArray.data: expected {4 * -(-wanted // 3)} characters for shape {self.shape} of "
                f"{self.dtype}; got {n}."
            )
        if len(self._bytes()) != wanted:
            raise ArgumentError(f"KeptArray.data: expected {wanted} bytes; got {len(self._bytes())}.")
        # NumPy does not check these bytes: a 2 would be neither True nor False.
        if self.dtype == "bool" and self._bytes().strip(b"\x00\x01"):
            raise ArgumentError("KeptArray.data: expected bytes 0 and 1 for a bool array; got others.")

    @property
    def n_bytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def array(self) -> NDArray[Any]:
        """Return the array, read-only; two calls give two views of the same numbers."""
        little = np.dtype(self.dtype).newbyteorder("<")
        return np.frombuffer(self._bytes(), little).astype(self.dtype, copy=False).reshape(self.shape)

    def _bytes(self) -> bytes:
        try:
            return base64.b64decode("".join(self.data), validate=True)
        except ValueError as error:
            raise ArgumentError(f"KeptArray.data: expected base64: {error}.") from None
