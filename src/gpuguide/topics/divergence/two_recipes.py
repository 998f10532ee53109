"""An if with two long sides, and the elements dealt out to threads so that warps agree on it or do not."""

import numpy as np

from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, gpu, kernel, per_element, whole_numbers
from gpuguide.topics.divergence import kernels
from gpuguide.topics.divergence.study import grid
from gpuguide.topics.divergence.warp_steps import WARP

ROUNDS = 128
BITS = 2**32 - 1


def recipes_reference(x, kind, *orders):
    """Scramble bit by bit: what a recipe makes of a number is put together from what it makes of its bits."""
    # Shifts and exclusive ors treat each bit for itself. So each recipe is run on 0 and on the 32 numbers
    # that have a single bit, and these results are combined.
    shifted, turned = (from_bits(x, recipe) for recipe in (shift_once, turn_once))
    return array_module(x).where(kind == 0, shifted, turned)


def from_bits(x, recipe):
    """Put together what a recipe makes of a number's bits."""
    zero, *ones = (scrambled(start, recipe) for start in (0, *(1 << bit for bit in range(32))))
    out = x * np.uint32(0) + np.uint32(zero)
    for bit, one in enumerate(ones):
        out ^= (x >> np.uint32(bit) & np.uint32(1)) * np.uint32(one ^ zero)
    return out


def scrambled(v, recipe):
    """Run all rounds of a recipe."""
    for _ in range(ROUNDS):
        v = recipe(v)
    return v


def shift_once(v):
    """Shift as the first recipe does."""
    # Python's integers have no end, so what 32 bits would lose is cut off here.
    v ^= v << 13 & BITS
    v ^= v >> 17
    return v ^ v << 5 & BITS


def turn_once(v):
    """Rotate as the second recipe does."""
    v ^= v >> 9 ^ BITS
    v = v << 7 & BITS | v >> 25
    return v ^ v >> 11


def find_orders(kind):
    """Work out three orders of elements of two kinds, on the host: as they lie, by warp, and grouped."""
    of_kind = [np.flatnonzero(kind == k).astype(np.int32) for k in (0, 1)]
    n_warps = min(places.size for places in of_kind) // WARP
    full = [places[: n_warps * WARP].reshape(n_warps, WARP) for places in of_kind]
    rest = [places[n_warps * WARP :] for places in of_kind]
    warps = np.concatenate([np.stack(full, axis=1).reshape(-1), *rest])
    return np.arange(kind.size, dtype=np.int32), warps, np.concatenate(of_kind)


def inputs(n, dtype, rng, exact):
    """Make elements of two kinds, and three orders of them."""
    x = np.arange(n, dtype=dtype) if exact else whole_numbers(rng, n, 2**32, dtype)
    kind = whole_numbers(rng, n, 2, np.int32)
    return x, kind, *find_orders(kind)


def group_first(x, kind, as_they_lie, warps, groups, out):
    """Find the grouped order at each call, with a running sum by CuPy."""
    if not x.size:
        return
    order = cp.empty(x.size, np.int32)
    kernels.group[grid(x.size)](kind, cp.cumsum(kind, dtype=np.int32), order)
    kernels.branch[grid(x.size)](x, kind, order, out)


def ordered(call, place, name, label, note):
    """Describe a kernel with one of the three orders of its elements."""
    return kernel(
        call,
        label,
        grid,
        name=name,
        note=note,
        arguments=lambda *arrays: (*arrays[:2], arrays[2 + place], arrays[-1]),
        # A number, its kind and its place are read. Grouping first moves more, and is not counted.
        traffic=per_element(reads=3, writes=1),
    )


recipes = Study(
    name="recipes",
    title="Two recipes, one for each kind of element",
    sizes=(2**12, 2**22),
    dtype="uint32",
    inputs=inputs,
    input_note="random numbers and random kinds; numbers counting up for the exact check",
    reference=recipes_reference,
    equal=True,
    baseline="mixed",
    variants=(
        ordered(
            kernels.branch,
            0,
            "mixed",
            "mixed",
            "Take the elements as they lie: both kinds in every warp.",
        ),
        ordered(
            kernels.both_sides,
            0,
            "both_sides",
            "both sides",
            "Do without a branch: work out both results for every element as it lies.",
        ),
        ordered(
            kernels.branch,
            1,
            "by_warp",
            "by warp",
            "Take 32 elements of one kind, then 32 of the other: each warp agrees.",
        ),
        ordered(
            kernels.branch,
            2,
            "grouped",
            "grouped",
            "Take all elements of the first kind, then all of the second.",
        ),
        gpu(group_first, "group first"),
    ),
)
