"""How far a float may lie from its float64 reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide.buffers import blocks
from gpuguide.errors import ArgumentError
from gpuguide.host_threads import in_threads

__all__ = ["Tolerance"]

_SCALES = ("elementwise", "sum")
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Tolerance:
    """How far a float may lie from the float64 reference: ``c * eps * (serial + log2 threads) * scale``.

    Never a relative tolerance alone: one lost element in 1e7 changes a random sum by 1e-7. The exact check
    finds that one; this bound is for rounding. Integers and booleans must be equal.

    Attributes
    ----------
    c : float
        Safety factor.
    serial : int or callable
        Longest chain of roundings in one thread; a callable gets the size n.
    scale : str or callable
        ``"elementwise"``: the larger of the expected element and the operands at its place, so that
        cancellation is forgiven and nothing else. ``"sum"``: the sum of the first input's magnitudes, for
        reductions. A callable gets float64 copies of the inputs and returns magnitudes that broadcast to
        the result, such as ``lambda a, b: abs(a) @ abs(b)``.
    threads : int, callable or None
        Partial results that are then added in a tree; a callable gets n. None: n for reductions, 1 for
        ``"elementwise"``.

    Examples
    --------
    >>> print(Tolerance())
    4 eps max(|expected|, |operands|)
    >>> print(Tolerance(c=2, serial=1000, scale="sum"))
    2 eps (1000 + log2 n) sum |x|
    >>> Tolerance(c=4, serial=2).factor(10, np.dtype("float32")) == 8 * 2.0**-23
    True
    """

    c: float = 4.0
    serial: int | Callable[[int], int] = 1
    scale: str | Callable[..., Any] = "elementwise"
    threads: int | Callable[[int], int] | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not (isinstance(self.c, int | float) and 0 < self.c < math.inf):
            raise ArgumentError(f"Tolerance.c must be a positive number; got {self.c!r}.")
        for name, least in (("serial", 1), ("threads", 1)):
            value = getattr(self, name)
            if isinstance(value, int) and value < least:
                raise ArgumentError(f"Tolerance.{name} must be at least {least}; got {value!r}.")
        if isinstance(self.scale, str) and self.scale not in _SCALES:
            raise ArgumentError(
                f"Tolerance.scale must be 'elementwise', 'sum' or a callable; got {self.scale!r}."
            )

    def factor(self, n: int, dtype: np.dtype[Any]) -> float:
        """Return everything but the scale.

        Parameters
        ----------
        n : int
            The size.
        dtype : numpy dtype
            Of the result.

        Returns
        -------
        float
            ``c * eps * (serial + log2 threads)``; 0 for integers and booleans.
        """
        if dtype.kind not in "fc":
            return 0.0
        default = 1 if self.scale == "elementwise" else n
        serial = self.serial(n) if callable(self.serial) else self.serial
        threads = self.threads(n) if callable(self.threads) else self.threads or default
        return float(self.c * np.finfo(dtype).eps * (serial + math.log2(max(threads, 1))))

    def magnitude(self, copies: tuple[Any, ...]) -> Any:
        """Return the scale as a number or array, or None where it is found element by element."""
        if callable(self.scale):
            return np.asarray(self.scale(*copies), dtype=np.float64)
        return None if self.scale == "elementwise" else np.asarray(_sum_of_magnitudes(copies))

    def __str__(self) -> str:
        named = {"elementwise": "max(|expected|, |operands|)", "sum": "sum |x|"}
        scale = getattr(self.scale, "__name__", "scale") if callable(self.scale) else named[self.scale]
        serial = "serial(n)" if callable(self.serial) else str(self.serial)
        default = "" if self.scale == "elementwise" else " + log2 n"
        threads = " + log2 threads(n)" if callable(self.threads) else f" + log2 {self.threads}"
        terms = serial + (default if self.threads is None else threads)
        # One rounding is not worth a bracket: 1, and the logarithm of one thread.
        shown = f" ({terms})" if terms.removesuffix(" + log2 1") != "1" else ""
        return f"{self.c:g} eps{shown} {'scale' if scale == '<lambda>' else scale}"


def _sum_of_magnitudes(copies: tuple[Any, ...]) -> float:
    x = np.asarray(copies[0]).reshape(-1)
    sums = in_threads(lambda part: np.abs(x[part]).sum(dtype=np.float64), blocks(x.size, _BLOCK), x.nbytes)
    return float(sum(sums))
