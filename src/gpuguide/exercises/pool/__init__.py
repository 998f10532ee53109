"""The exercises, one folder each; this page says how to write one.

A folder holds four files:

- ``task.md``: the statement in Markdown, then two or three hints, the gentlest first, each after a line
  ``---``. The statement says what the function gets, what must hold afterwards, what is wrong with the
  start, and under *Judged:* what is judged, no less and no more.
- ``start.py``: what a reader begins with; its last function is the one to write. It must be refused, and
  mostly because of the very thing that the exercise teaches.
- ``solution.py``: one right answer, as a good programmer writes it.
- ``exercise.py``: data, about 35 to 60 lines, without annotations. At its end stand `EXERCISE` and
  `MISTAKES`.

An exercise helps an honest learner and proves nobody's innocence. A launch, case, limit or assertion is
there because three of ten beginners would go wrong otherwise; that an answer *could* cheat is no reason.
What is needed in two exercises belongs into the engine, what one needs stays in its file.

**A kernel** (`KernelExercise`; read `guard`, then `histogram`, `barrier` and `tiled_matmul`).
``launches()`` yields `Launch` objects without NumPy, cheap and plain ones first: the first that goes wrong
is what the reader sees. About ten launches of at most two thousand threads together are enough, a fraction
of a second in all. ::

    def launches():
        for n, blocks, threads in COVERING:
            random = Random(n)
            x = array(eighths(random, -9, 9, n))
            expected = {"out": [2 * value for value in x]}
            yield Launch(f"n = {n}", blocks, threads, {"x": x, "out": empty(n)}, expected)

- `launches.COVERING`, `ANY_GRID` and `COVERING_2D` are tables of awkward lengths, blocks and threads;
  filter them, or write a table of your own.
- ``array(values, dtype, shape)`` and ``empty(shape, dtype)`` are the tracer's arrays; ``x[i]``, ``x[row,
  col]`` and iteration read one. What is in `expected` may change, all other arrays must not.
- ``eighths`` makes multiples of 1/8, whose sums and products are exact in any order, so that results are
  compared by ``==``; else give a `tolerance`. ``narrow`` rounds a number to float32.
- `Limits` are judged where the results are right; a `Launch` may have its own `loop_turns`. Let them
  leave room for answers that are written differently.

Special values are cheap: put those in that a beginner's shortcut goes wrong with (equal and nearly equal
numbers, zero, infinity, more than one block, a last block of one element and one that is nearly full).

What the tracer finds needs no data: indices out of range, races, barriers, unset memory and changed input.

**A function of the host** (`HostExercise`; read `count_transfers`, `warm_start`, `fork_and_join`,
`halo_exchange`). ``cases()`` yields `Case` objects: how sentences on it begin, the arguments, and what must
come back. The engine calls the function, compares the result (`ANYTHING` leaves that to the judge), and looks
whether an argument was changed. ``judge(case, result)``, if there is one, asserts the rest by
`judging.require`, `at_most`, `in_order`, `in_time`, `clock_mistake`, `samples_of`: one sentence that says
what happened, how often, in which lines, and what is enough. It may return a sentence that is shown with a
pass.

- ``Cupy()`` stands in for CuPy: NumPy's functions on arrays of the GPU. ``cp.put(x)`` makes an input that
  is there already, ``cp.gpu.steps("launch", "to_device", "to_host", "wait", "clock")`` is the log, and a
  step has `name`, `line`, `nbytes`, `compiled` and its times. ``Cupy(limit=4096)`` has so many bytes of
  memory.
- ``VirtualGpu(Costs(...))`` has the clock, streams and events: ``gpu.launch(name, busy_s, reads=,
  writes=)``, ``gpu.clock()``, ``gpu.synchronize()``, ``gpu.host(name, busy_s)``, ``gpu.stream()``,
  ``gpu.pinned``. `bounds(array)` is the memory of an array, of either side.

**Mistakes** are four to eight replacements of a text that stands once in the solution, each of which a
beginner makes, with the kind of finding that must come first: ``Mistake("i < out.size", "i <= out.size",
"out_of_range")``. The kinds are those of `gpuguide.tracer.findings.KINDS`; for functions of the host
"wrong", "limit" (the result is right), "exception", "input_changed", "race", "unfinished" and "endless", or a
word of your own. ``pytest tests/exercises -k NAME`` tests solution, start, mistakes, and mutants of a kernel.
Read the verdicts, too: ``python tests/exercises/test_golden_verdicts.py NAME`` writes them to
``tests/exercises/verdicts/NAME.txt``, ``python -m gpuguide.exercises.worker NAME FILE`` gives that on any
file. Mutants that do what the solution does stand in ``tests/exercises/equivalent.toml``, with the reason.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gpuguide.errors import unknown
from gpuguide.exercises.model import POOL

if TYPE_CHECKING:
    from gpuguide.exercises.model import Exercise

__all__ = ["ORDER", "get", "names"]

#: In teaching order: functions of the host, then kernels.
ORDER: tuple[str, ...] = (
    "fill_in_either",
    "fill_in_dot",
    "fill_in_wait",
    "count_transfers",
    "warm_start",
    "within_the_limit",
    "any_library",
    "one_launch",
    "crossing_point",
    "latency_and_rate",
    "reuse_a_buffer",
    "fork_and_join",
    "until_converged",
    "lying_benchmark",
    "fair_comparison",
    "any_grouping",
    "halo_exchange",
    "choose_tolerance",
    "grid_arithmetic",
    "map",
    "guard",
    "map_2d",
    "axis_order",
    "halo_read",
    "smallest_factor",
    "grid_stride",
    "same_walks",
    "count_smaller",
    "float64_by_accident",
    "fusion",
    "carry_values",
    "divergence",
    "histogram",
    "boxes",
    "barrier",
    "find_the_bug",
    "hunt_address",
    "hunt_overflow",
    "hunt_nan",
    "hunt_race",
    "hunt_leftover",
    "hunt_hang",
    "block_reduction",
    "sum_in_two_launches",
    "largest_and_its_place",
    "prefix_sum",
    "stream_compaction",
    "dot",
    "row_sums",
    "row_softmax",
    "csr_times_vector",
    "convolution_1d",
    "stencil_2d",
    "transpose",
    "aos_to_soa",
    "tiled_matmul",
    "pack_bits",
)


def names() -> list[str]:
    """Return the names of all exercises in teaching order.

    >>> names()[:3]
    ['fill_in_either', 'fill_in_dot', 'fill_in_wait']
    """
    return [name for name in ORDER if (POOL / name / "exercise.py").is_file()]


def get(name: str) -> Exercise:
    """Return an exercise.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Exercise
        With its statement, hints, start and solution.

    Raises
    ------
    UnknownNameError
        There is no such exercise; the message names the nearest.

    Examples
    --------
    >>> get("guard").title
    'Threads without an element'
    """
    if name not in names():
        raise unknown("exercise", name, names())
    exercise: Exercise = import_module(f"gpuguide.exercises.pool.{name}.exercise").EXERCISE
    return exercise
