"""An if with two long sides, and the elements dealt out to threads so that warps agree on it or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.divergence.active_threads import WARP
from gpuguide.topics.divergence.kernels import both_sides_kernel, branch_kernel, group_kernel
from gpuguide.topics.divergence.recipes import recipes_reference

THREADS_PER_BLOCK = 128
SIZES = (2**12, 2**14, 2**16, 2**18, 2**20, 2**22)


def checked_size(**arrays: Any) -> int:
    """Return the length of the arrays of a call, or say what is wrong with them.

    Parameters
    ----------
    **arrays : array, shape (n,)
        By name: x and out of uint32, all others of int32.

    Returns
    -------
    int
        Their length: that of out.

    Raises
    ------
    ArgumentError
        An array has another shape or dtype.

    Examples
    --------
    >>> checked_size(x=np.ones(3, np.uint32), out=np.ones(3, np.uint32))
    3
    """
    n = int(arrays["out"].size)
    for name, array in arrays.items():
        dtype = np.dtype(np.uint32 if name in ("x", "out") else np.int32)
        if array.shape != (n,) or array.dtype != dtype:
            raise ArgumentError(
                f"{name} must be a vector of {n} {dtype}; got {array.shape} {array.dtype}."
            )
    return n


def launch_recipes(kernel: Any, x: Any, kind: Any, order: dict[str, Any], out: Any) -> None:
    """Look at the arrays, and launch a thread for each element.

    Parameters
    ----------
    kernel : numba.cuda.dispatcher.CUDADispatcher
        With a branch or without.
    x : device array of uint32, shape (n,)
        What is scrambled.
    kind : device array of int32, shape (n,)
        0 or 1: by which recipe.
    order : dict of str to device array of int32, shape (n,)
        One order, with the name that a message calls it.
    out : device array of uint32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        An array has another shape or dtype.

    Examples
    --------
    >>> x, kind = np.ones(0, np.uint32), np.zeros(0, np.int32)
    >>> launch_recipes(branch_kernel, x, kind, {"mixed": kind}, x)
    """
    n = checked_size(x=x, kind=kind, **order, out=out)
    if n:
        arrays = map(numba_view, (x, kind, *order.values(), out))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*arrays)


def branch_mixed(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take the elements as they lie: both kinds in every warp.

    Parameters
    ----------
    x : device array of uint32, shape (n,)
        What is scrambled.
    kind : device array of int32, shape (n,)
        0 or 1: by which recipe.
    mixed, by_warp, grouped : device array of int32, shape (n,)
        Three orders: which element each thread takes.
    out : device array of uint32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        An array has another shape or dtype.

    Examples
    --------
    >>> x, kind = np.ones(2, np.uint32), np.zeros(2, np.int32)
    >>> try:
    ...     branch_mixed(x, kind, kind[:1], kind, kind, x)
    ... except ArgumentError as error:
    ...     print(error)
    mixed must be a vector of 2 int32; got (1,) int32.
    """
    launch_recipes(branch_kernel, x, kind, {"mixed": mixed}, out)


def branch_by_warp(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take 32 elements of one kind, then 32 of the other: each warp agrees.

    Parameters
    ----------
    x, kind, mixed, by_warp, grouped, out : device array, shape (n,)
        As for `branch_mixed`.

    Raises
    ------
    ArgumentError
        As for `branch_mixed`.

    Examples
    --------
    >>> x, kind = np.ones(2, np.uint32), np.zeros(2, np.int32)
    >>> try:
    ...     branch_by_warp(x, kind, kind, x, kind, x)
    ... except ArgumentError as error:
    ...     print(error)
    by_warp must be a vector of 2 int32; got (2,) uint32.
    """
    launch_recipes(branch_kernel, x, kind, {"by_warp": by_warp}, out)


def branch_grouped(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Take all elements of the first kind, then all of the second.

    Parameters
    ----------
    x, kind, mixed, by_warp, grouped, out : device array, shape (n,)
        As for `branch_mixed`.

    Raises
    ------
    ArgumentError
        As for `branch_mixed`.

    Examples
    --------
    >>> x, kind = np.ones(2, np.uint32), np.zeros(2, np.int32)
    >>> try:
    ...     branch_grouped(x, x, kind, kind, kind, x)
    ... except ArgumentError as error:
    ...     print(error)
    kind must be a vector of 2 int32; got (2,) uint32.
    """
    launch_recipes(branch_kernel, x, kind, {"grouped": grouped}, out)


def both_sides(x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any) -> None:
    """Do without a branch: work out both results for every element as it lies.

    Parameters
    ----------
    x, kind, mixed, by_warp, grouped, out : device array, shape (n,)
        As for `branch_mixed`.

    Raises
    ------
    ArgumentError
        As for `branch_mixed`.

    Examples
    --------
    >>> x, kind = np.ones(2, np.uint32), np.zeros(2, np.int32)
    >>> try:
    ...     both_sides(kind, kind, kind, kind, kind, x)
    ... except ArgumentError as error:
    ...     print(error)
    x must be a vector of 2 uint32; got (2,) int32.
    """
    launch_recipes(both_sides_kernel, x, kind, {"mixed": mixed}, out)


def branch_group_first(
    x: Any, kind: Any, mixed: Any, by_warp: Any, grouped: Any, out: Any
) -> None:
    """Find the grouped order at each call, with a running sum by CuPy.

    Parameters
    ----------
    x, kind, mixed, by_warp, grouped, out : device array, shape (n,)
        As for `branch_mixed`; two arrays of n int32 are taken from CuPy's pool.

    Raises
    ------
    ArgumentError
        As for `branch_mixed`.
    BackendError
        CuPy is missing.

    Examples
    --------
    >>> x, kind = np.ones(2, np.uint32), np.zeros(2, np.int32)
    >>> try:
    ...     branch_group_first(x, kind[:1], kind, kind, kind, x)
    ... except ArgumentError as error:
    ...     print(error)
    kind must be a vector of 2 int32; got (1,) int32.
    """
    n = checked_size(x=x, kind=kind, out=out)
    if n:
        order = cupy().empty(n, np.int32)
        arrays = map(numba_view, (kind, cupy().cumsum(kind, dtype=np.int32), order))
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        group_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](*arrays)
        launch_recipes(branch_kernel, x, kind, {"order": order}, out)


def recipes_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: a number, its kind and its place are read, a number is written.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written.

    Examples
    --------
    >>> recipes_traffic(1000, "uint32").bytes_total
    16000
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * (itemsize + 8), bytes_written=n * itemsize)


def find_orders(kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Work out three orders of elements of two kinds, on the host.

    Parameters
    ----------
    kind : ndarray of int, shape (n,)
        0 or 1.

    Returns
    -------
    tuple of three ndarrays of int32, shape (n,)
        As they lie; 32 of one kind and 32 of the other in turn, for as long as there are enough; all of
        kind 0, then all of kind 1.

    Examples
    --------
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


def study() -> Study:
    """Describe the comparison: a branch in three orders, none at all, and grouping at each call.

    Returns
    -------
    Study
        From 2**12 to 2**22 uint32.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['mixed', 'both_sides', 'by_warp', 'grouped', 'group_first']
    """
    return Study(
        name="recipes",
        title="Two recipes, one for each kind of element",
        variants=(
            _variant("mixed", branch_mixed, "mixed"),
            _variant("both_sides", both_sides, "both sides"),
            _variant("by_warp", branch_by_warp, "by warp"),
            _variant("grouped", branch_grouped, "grouped"),
            Variant("group_first", branch_group_first, label="group first", simulatable=False),
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=EqualCheck(recipes_reference),
        dtype="uint32",
        input_note="random numbers and random kinds; numbers counting up for the exact check",
        baseline="mixed",
    )


def _variant(name: str, call: Callable[..., None], label: str) -> Variant:
    return Variant(name, call, label=label, arrays="numba", traffic=recipes_traffic)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    x = np.arange(n, dtype=dtype) if exact else whole_numbers(rng, n, 2**32, dtype)
    kind = whole_numbers(rng, n, 2, np.int32)
    return x, kind, *find_orders(kind)
