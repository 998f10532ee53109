"""An if with two long sides, and the elements dealt out to threads so that warps agree on it or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cupy_variant, kernel_variant
from gpuguide.measure.random_inputs import whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.divergence.kernels import both_sides, branch, group
from gpuguide.topics.divergence.warp_steps import WARP

THREADS_PER_BLOCK = 128
SIZES = (2**12, 2**22)
ROUNDS = 128
_BITS = 2**32 - 1


DTYPES = {"x": "uint32", "out": "uint32"} | dict.fromkeys(
    ("kind", "mixed", "by_warp", "grouped", "order"), "int32"
)


def recipes_reference(x: Any, kind: Any, *orders: Any) -> Any:
    """Scramble bit by bit: what a recipe makes of a number is put together from what it makes of its bits.

    Shifts and exclusive ors treat each bit of a number for itself. So each recipe is run on 0 and on the 32
    numbers that have a single bit, and these results are combined.

    >>> x = np.array([1, 1], np.uint32)
    >>> recipes_reference(x, np.array([0, 1], np.int32)).tolist()
    [2144056621, 2429381705]
    """
    first, second = (_from_bits(x, once) for once in (_shift_once, _turn_once))
    return array_module(x).where(kind == 0, first, second)


def _from_bits(x: Any, once: Callable[[int], int]) -> Any:
    zero, *ones = (_scrambled(start, once) for start in (0, *(1 << bit for bit in range(32))))
    out = x * np.uint32(0) + np.uint32(zero)
    for bit, one in enumerate(ones):
        out ^= (x >> np.uint32(bit) & np.uint32(1)) * np.uint32(one ^ zero)
    return out


def _scrambled(v: int, once: Callable[[int], int]) -> int:
    for _ in range(ROUNDS):
        v = once(v)
    return v


def _shift_once(v: int) -> int:
    # Python's integers have no end, so what 32 bits would lose is cut off here.
    v ^= v << 13 & _BITS
    v ^= v >> 17
    return v ^ v << 5 & _BITS


def _turn_once(v: int) -> int:
    v ^= v >> 9 ^ _BITS
    v = v << 7 & _BITS | v >> 25
    return v ^ v >> 11


def launch_recipes(kernel: Any, x: Any, kind: Any, out: Any, **order: Any) -> None:
    """Launch a thread for each element, which takes the one that the order names."""
    n = launch.check(x=x, kind=kind, **order, out=out, ndim=1, dtype=DTYPES)
    if n:
        kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](
            x, kind, *order.values(), out
        )


def branch_mixed(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take the elements as they lie: both kinds in every warp."""
    launch_recipes(branch, x, kind, out, mixed=mixed)


def branch_by_warp(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take 32 elements of one kind, then 32 of the other: each warp agrees."""
    launch_recipes(branch, x, kind, out, by_warp=by_warp)


def branch_grouped(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take all elements of the first kind, then all of the second."""
    launch_recipes(branch, x, kind, out, grouped=grouped)


def both_sides_mixed(
    x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any
) -> None:
    """Do without a branch: work out both results for every element as it lies."""
    launch_recipes(both_sides, x, kind, out, mixed=mixed)


def branch_group_first(
    x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any
) -> None:
    """Find the grouped order at each call, with a running sum by CuPy."""
    n = launch.check(x=x, kind=kind, out=out, ndim=1, dtype=DTYPES)
    if n:
        order = cupy().empty(n, np.int32)
        ones = cupy().cumsum(kind, dtype=np.int32)
        group[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](kind, ones, order)
        launch_recipes(branch, x, kind, out, order=order)


def recipes_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: a number, its kind and its place are read, a number is written."""
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * (itemsize + 8), bytes_written=n * itemsize)


def find_orders(kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Work out three orders of elements of two kinds, on the host.

    >>> mixed, by_warp, grouped = find_orders(np.arange(128) % 2)
    >>> by_warp[[0, 31, 32, 63, 64]].tolist(), grouped[[0, 63, 64]].tolist()
    ([0, 62, 1, 63, 64], [0, 126, 1])
    """
    of_kind = [np.flatnonzero(kind == k).astype(np.int32) for k in (0, 1)]
    n_warps = min(each.size for each in of_kind) // WARP
    full = [each[: n_warps * WARP].reshape(n_warps, WARP) for each in of_kind]
    rest = [each[n_warps * WARP :] for each in of_kind]
    by_warp = np.concatenate([np.stack(full, axis=1).reshape(-1), *rest])
    return np.arange(kind.size, dtype=np.int32), by_warp, np.concatenate(of_kind)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison: a branch in three orders, none at all, and grouping at each call."""
    return Study(
        name="recipes",
        title="Two recipes, one for each kind of element",
        variants=(
            kernel_variant("mixed", branch_mixed, "mixed", traffic=recipes_traffic),
            kernel_variant(
                "both_sides", both_sides_mixed, "both sides", traffic=recipes_traffic
            ),
            kernel_variant("by_warp", branch_by_warp, "by warp", traffic=recipes_traffic),
            kernel_variant("grouped", branch_grouped, "grouped", traffic=recipes_traffic),
            cupy_variant("group_first", branch_group_first, "group first"),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=recipes_reference,
        equal=True,
        dtype="uint32",
        input_note="random numbers and random kinds; numbers counting up for the exact check",
        baseline="mixed",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    x = np.arange(n, dtype=dtype) if exact else whole_numbers(rng, n, 2**32, dtype)
    kind = whole_numbers(rng, n, 2, np.int32)
    return x, kind, *find_orders(kind)
