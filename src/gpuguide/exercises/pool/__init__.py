"""The exercises, one folder each, in teaching order; an exercise is imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gpuguide.errors import unknown

if TYPE_CHECKING:
    from gpuguide.exercises.model import Exercise

__all__ = ["ORDER", "get", "names"]

# Beside this file lies a folder for each: exercise.py, statement.md, hints.md, stub.py, solution.py.
ORDER: tuple[str, ...] = (
    "fill_in_either",
    "fill_in_dot",
    "fill_in_wait",
    "cpu_or_gpu",
    "refine",
    "count_transfers",
    "warm_start",
    "windows",
    "within_the_limit",
    "rows_apart",
    "any_library",
    "one_launch",
    "crossing_point",
    "split_kernel",
    "pi_in_pieces",
    "latency_and_rate",
    "best_sides",
    "copy_and_work",
    "reuse_a_buffer",
    "fork_and_join",
    "block_interface",
    "lying_benchmark",
    "fair_comparison",
    "compile_once",
    "grid_arithmetic",
    "map",
    "guard",
    "map_2d",
    "axis_order",
    "halo_read",
    "primes_on_gpu",
    "smallest_factor",
    "grid_stride",
    "count_smaller",
    "float64_by_accident",
    "fusion",
    "carry_values",
    "divergence",
    "any_grouping",
    "count_the_passes",
    "histogram",
    "barrier",
    "shift_in_place",
    "shared_sum",
    "block_reduction",
    "prefix_sum",
    "dot",
    "row_sums",
    "convolution_1d",
    "transpose",
    "tiled_matmul",
    "pack_bits",
    "halo_exchange",
    "choose_tolerance",
)


def names() -> list[str]:
    """Return the names of all exercises in teaching order.

    Returns
    -------
    list of str
        Each one is a name that `get` takes.

    Examples
    --------
    >>> names() == list(ORDER)
    True
    """
    return list(ORDER)


def get(name: str) -> Exercise:
    """Return an exercise.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Exercise
        With its statement, hints, stub and solution.

    Raises
    ------
    UnknownNameError
        There is no such exercise; the message names the nearest.

    Examples
    --------
    >>> all(get(name).name == name for name in names())
    True
    """
    if name not in ORDER:
        raise unknown("exercise", name, ORDER)
    exercise: Exercise = import_module(f"gpuguide.exercises.pool.{name}.exercise").EXERCISE
    return exercise
