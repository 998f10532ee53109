"""Layers of factors near 1, made where they are used, and the product that they must have."""

from functools import partial

import numpy as np

from gpuguide.machine.backends import has_gpu, numba_view, simulated
from gpuguide.machine.cpu import in_threads
from gpuguide.measure import cp

# An exponent is an odd number from -1023 to 1023 over this: factors within 2.2 % of one.
FINE = 2**15
# Exponents are -1, 0 and 1, so that products are exact in any order.
EXACT = 1

GOLDEN, MIXER = np.array([0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93], np.uint64)
# The same numbers as `factors`, in one pass.
FILL = """
    unsigned long long h = (unsigned long long)i * 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
    const int e = 2 * (int)(h >> 54) - 1023;
    x = exp2((double)(steps == 1 ? e / 512 : e) / (double)steps)"""


def layer_shape():
    """Return rows and columns of a layer; the simulator has small ones."""
    return (5, 7) if simulated() else (512, 512)


def exponents(start, stop, steps):
    """Return what the exponents of the factors from one index to below another are, times `steps`."""
    h = np.arange(start, stop, dtype=np.uint64)
    h *= GOLDEN  # wraps around
    h ^= h >> np.uint64(32)
    h *= MIXER
    e = 2 * (h >> np.uint64(54)).view(np.int64) - 1023
    return e if steps != EXACT else np.where(e < 0, -(-e // 512), e // 512)


def factors(start, stop, steps):
    """Return the factors themselves: two to the power of the exponents."""
    return np.exp2(exponents(start, stop, steps) / steps)


def product_reference(n_layers, steps):
    """Add up the exponents, which are whole numbers, and multiply nothing."""
    rows, cols = layer_shape()
    size = rows * cols

    def some(first):
        last = min(first + 16, n_layers)
        # Layer by layer: one fits into a processor's cache.
        return sum(exponents(size * z, size * (z + 1), steps) for z in range(first, last))

    parts = in_threads(some, range(0, n_layers, 16), 8 * n_layers * size)
    whole, rest = np.divmod(sum(parts, np.zeros(size, np.int64)), steps)
    return np.ldexp(np.exp2(rest / steps), whole).reshape(rows, cols)


class Layers:
    """The layers in the GPU's memory, or on the host without a GPU: those that were asked for last."""

    def __init__(self):
        self.n_layers = self.steps = self.array = self.view = None

    def __call__(self, n_layers, steps, *, view=False):
        """Return the layers as a CuPy array, or as the view of it that Numba takes."""
        if (self.n_layers, self.steps) != (n_layers, steps):
            self.release()  # before others are made: there is no room for two
            self.array = make_layers(n_layers, steps)
            self.view = numba_view(self.array) if has_gpu() else self.array
            self.n_layers, self.steps = n_layers, steps
        return self.view if view else self.array

    def release(self):
        """Let go of the memory."""
        self.n_layers = self.steps = self.array = self.view = None


def make_layers(n_layers, steps):
    """Make layers, and one more, of NaN: a kernel that goes too far gives a wrong product."""
    rows, cols = layer_shape()
    size = rows * cols
    xp = cp if has_gpu() else np
    x = xp.full((n_layers + 1) * size, np.nan)
    if has_gpu():
        fill = cp.ElementwiseKernel("int64 steps", "float64 x", FILL, "factors_near_one")
        fill(steps, x[: n_layers * size])
        cp.cuda.get_current_stream().synchronize()  # kernels may run in another stream
    else:
        in_threads(partial(fill_layer, x, size, steps), range(n_layers), x.nbytes)
    return x[: n_layers * size].reshape(n_layers, rows, cols)


def fill_layer(x, size, steps, z):
    """Make one layer on the host."""
    x[size * z : size * (z + 1)] = factors(size * z, size * (z + 1), steps)


held = Layers()
