"""Layers of factors near 1, made where they are used, and the product that they must have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuguide.machine.backends import cupy, has_gpu, numba_view, simulated
from gpuguide.machine.cpu import in_threads

__all__ = [
    "EXACT",
    "FINE",
    "exponents",
    "factors",
    "held",
    "layer_shape",
    "most_layers",
    "product_reference",
]

FINE = 2**15
"""An exponent is an odd number from -1023 to 1023 over this: factors within 2.2 % of one."""
EXACT = 1
"""Exponents are -1, 0 and 1, so that products are exact in any order."""
LAYERS = 4096

_GOLDEN, _MIXER = np.array([0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93], np.uint64)
# The same numbers as `factors`, in one pass.
_FILL = """
    unsigned long long h = (unsigned long long)i * 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
    const int e = 2 * (int)(h >> 54) - 1023;
    x = exp2((double)(steps == 1 ? e / 512 : e) / (double)steps)"""


def layer_shape() -> tuple[int, int]:
    """Return rows and columns of a layer; the simulator has small ones.

    >>> len(layer_shape())
    2
    """
    return (5, 7) if simulated() else (512, 512)


def most_layers(wanted: int = LAYERS) -> int:
    """Return the number of layers that is wanted, halved until they fit into the GPU's free memory.

    >>> most_layers(2)
    2
    """
    free = int(cupy().cuda.Device().mem_info[0]) if has_gpu() else 0
    rows, cols = layer_shape()
    while has_gpu() and wanted > 1 and 1.2 * 8 * wanted * rows * cols > free:
        wanted //= 2
    return wanted


def exponents(start: int, stop: int, steps: int) -> NDArray[np.int64]:
    """Return what the exponents of the factors from one index to below another are, times `steps`.

    >>> exponents(1, 5, FINE).tolist(), exponents(1, 5, EXACT).tolist()
    ([-833, 589, 831, -175], [-1, 1, 1, 0])
    """
    h = np.arange(start, stop, dtype=np.uint64)
    h *= _GOLDEN  # wraps around
    h ^= h >> np.uint64(32)
    h *= _MIXER
    e = 2 * (h >> np.uint64(54)).view(np.int64) - 1023
    return e if steps != EXACT else np.where(e < 0, -(-e // 512), e // 512)


def factors(start: int, stop: int, steps: int) -> NDArray[np.float64]:
    """Return the factors themselves: two to the power of the exponents."""
    return np.asarray(np.exp2(exponents(start, stop, steps) / steps))


def product_reference(n_layers: int, steps: int) -> NDArray[np.float64]:
    """Add up the exponents, which are whole numbers, and multiply nothing.

    >>> product_reference(0, FINE).min()
    np.float64(1.0)
    """
    rows, cols = layer_shape()
    size = rows * cols

    def some(first: int) -> Any:
        last = min(first + 16, n_layers)
        # Layer by layer: one fits into a processor's cache.
        return sum(exponents(size * z, size * (z + 1), steps) for z in range(first, last))

    parts = in_threads(some, range(0, n_layers, 16), 8 * n_layers * size)
    whole, rest = np.divmod(sum(parts, np.zeros(size, np.int64)), steps)
    return np.ldexp(np.exp2(rest / steps), whole).reshape(rows, cols)


class Layers:
    """The layers in the GPU's memory, or on the host without a GPU: those that were asked for last."""

    def __init__(self) -> None:
        self._key: tuple[int, int] | None = None
        self._array: Any = None
        self._view: Any = None

    def __call__(self, n_layers: int, steps: int, *, view: bool = False) -> Any:
        """Return the layers as a CuPy array, or as the view of it that Numba takes."""
        if self._key != (n_layers, steps):
            self.release()  # before others are made: there is no room for two
            self._array = _made(n_layers, steps)
            self._view = numba_view(self._array) if has_gpu() else self._array
            self._key = n_layers, steps
        return self._view if view else self._array

    def release(self) -> None:
        """Let go of the memory."""
        self._key = self._array = self._view = None


def _made(n_layers: int, steps: int) -> Any:
    rows, cols = layer_shape()
    size = rows * cols
    xp = cupy() if has_gpu() else np
    # One layer more, of NaN: a kernel that goes too far gives a wrong product.
    x = xp.full((n_layers + 1) * size, np.nan)
    if has_gpu():
        fill = xp.ElementwiseKernel("int64 steps", "float64 x", _FILL, "factors_near_one")
        fill(steps, x[: n_layers * size])
        xp.cuda.get_current_stream().synchronize()  # kernels may run in another stream
    else:
        make = partial(_fill_layer, x, size, steps)
        in_threads(make, range(n_layers), x.nbytes)
    return x[: n_layers * size].reshape(n_layers, rows, cols)


def _fill_layer(x: NDArray[np.float64], size: int, steps: int, z: int) -> None:
    x[size * z : size * (z + 1)] = factors(size * z, size * (z + 1), steps)


held = Layers()
