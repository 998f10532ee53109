"""Traces a launch: runs it thread by thread in plain Python, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.tracer.counts import Counts, counted
from gpuguide.tracer.findings import Finding, count, with_capital
from gpuguide.tracer.judge import Limits, doubles, findings_of, over_limits
from gpuguide.tracer.memory import Array, Fault
from gpuguide.tracer.run import Grid, Run, as_argument
from gpuguide.tracer.source import Program, Ready

__all__ = ["Trace", "launch"]


@dataclass(repr=False)
class Trace:
    """What a launch did, thread by thread, and what is wrong with it.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, the most important first; empty if nothing is.
    kernel : str
        Its name.
    label : str
        The launch in words.
    arrays : dict of str to Array
        The arrays as the kernel left them, by the names of the call.
    notes : tuple of str
        What was left out, in sentences.
    """

    findings: tuple[Finding, ...]
    kernel: str
    label: str
    arrays: dict[str, Array]
    notes: tuple[str, ...] = ()
    filename: str = ""
    run: Run | None = field(default=None, repr=False)
    n_blocks: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def printed(self) -> str:
        """What the kernel printed, the first 20 lines of it."""
        if self.run is None or not self.run.printed:
            return ""
        left = self.run.n_printed - len(self.run.printed)
        return "\n".join([*self.run.printed, *([f"... and {count(left, 'more line')}"] if left else [])])

    @cached_property
    def counts(self) -> Counts:
        """Accesses, sectors, bank conflicts, atomic operations and turns of loops."""
        return Counts() if self.run is None else counted(self.run, self.n_blocks)


def launch(
    function: Any,
    blocks: int | Sequence[int],
    threads: int | Sequence[int],
    arguments: Mapping[str, Any] | Sequence[Any],
    *,
    inputs: Iterable[str] | None = None,
    expected: Mapping[str, Any] | None = None,
    tolerance: float = 0.0,
    limits: Limits | None = None,
    shared_bytes: int = 0,
    reverse: bool = False,
    most_threads: int | None = None,
    most_turns: int = 200_000,
) -> Trace:
    """Trace one launch of a kernel.

    Parameters
    ----------
    function : callable
        The kernel: a Python function, one that is decorated with ``@cuda.jit``, or what `load` returns.
    blocks, threads : int or sequence of int
        Blocks per grid and threads per block, x first.
    arguments : mapping or sequence
        Arrays of `array` or `empty`, and numbers, in the order of the parameters. The arrays hold the results
        afterwards. Their names in a mapping are those that `inputs` and `expected` use; without one, they are
        the kernel's own.
    inputs : iterable of str, optional
        Arrays that the kernel must leave as they are; by default all that are not in `expected`, if that is given.
    expected : mapping, optional
        What arrays hold afterwards, in C order.
    tolerance : float
        Largest absolute difference; 0 asks for equal values, where NaN equals NaN.
    limits : Limits, optional
        What is required besides; judged where all else is right.
    shared_bytes : int
        Dynamic shared memory of a block.
    reverse : bool
        Whether blocks and threads come in reverse order.
    most_threads : int, optional
        With more threads than this, only the first and the last blocks run.
    most_turns : int
        Turns of loops after which a thread is thought never to end.

    Returns
    -------
    Trace
        With findings as data.
    """
    grid = Grid(*(((size,) if isinstance(size, int) else tuple(size)) for size in (blocks, threads)))
    limits = limits or Limits()
    program = Program(watch_branches=limits.divergent_branches is not None)
    label = launch_in_words(grid)
    try:
        kernel = program.ready(function, kernel=True)
    except Fault as fault:
        return _refused(fault, function, label)
    given = _named(arguments, kernel)
    arrays = {name: value for name, value in given.items() if isinstance(value, Array)}
    run = Run(program, kernel, grid, shared_bytes=shared_bytes, most_turns=most_turns)
    values = [as_argument(value, own) for value, own in zip(given.values(), kernel.parameters, strict=True)]
    called = {name: value for name, value in zip(given, values, strict=True) if isinstance(value, Array)}
    before = {name: list(value.memory.cells) for name, value in arrays.items()}
    chosen, notes = _blocks(grid, most_threads)
    run.execute(values, chosen, reverse=reverse)
    results = dict(expected or {})
    if inputs is None:
        inputs = [name for name in arrays if name not in results] if expected is not None else []
    right = {name: _flat(value) for name, value in results.items()}
    if notes:
        right = {}
    findings = findings_of(run, called, before, right, inputs, tolerance)
    if run.fences:
        notes.append("The kernel uses cuda.threadfence(), so races between blocks were not looked for.")
    trace = Trace((), kernel.name, label, arrays, tuple(notes), kernel.filename, run, len(chosen))
    if not findings:
        if _asks_for_counts(limits):
            findings = over_limits(run, trace.counts, called, results, limits)
        else:
            findings = [*doubles(run, limits)]
    trace.findings = tuple(findings)
    return trace


def _asks_for_counts(limits: Limits) -> bool:
    return any(value is not None for name, value in vars(limits).items() if name != "float64")


def _named(arguments: Mapping[str, Any] | Sequence[Any], kernel: Ready) -> dict[str, Any]:
    given = dict(arguments) if isinstance(arguments, Mapping) else None
    n = len(arguments)
    if n != len(kernel.parameters):
        takes = count(len(kernel.parameters), "argument")
        raise ArgumentError(f"{kernel.name} takes {takes} ({', '.join(kernel.parameters)}); got {n}.")
    if given is None:
        given = dict(zip(kernel.parameters, arguments, strict=True))
    return given


def _flat(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, Array) else list(value)
    while values and isinstance(values[0], list | tuple):
        values = [item for row in values for item in row]
    return values


def _blocks(grid: Grid, most_threads: int | None) -> tuple[Sequence[int], list[str]]:
    """Choose the blocks that run: all of them, or the first and the last ones."""
    if most_threads is None or grid.n_threads <= most_threads:
        return range(grid.n_blocks), []
    ends = max(1, most_threads // grid.per_block // 2)
    if 2 * ends >= grid.n_blocks:
        return range(grid.n_blocks), []
    note = (
        f"Of {grid.n_blocks:,} blocks only the first {ends:,} and the last {ends:,} were traced, so the "
        "results are incomplete." if ends > 1 else
        f"Of {grid.n_blocks:,} blocks only the first and the last were traced, so the results are incomplete."
    )  # fmt: skip
    return [*range(ends), *range(grid.n_blocks - ends, grid.n_blocks)], [note]


def launch_in_words(grid: Grid) -> str:
    """Say how a kernel is launched, with x first, as CUDA has it."""
    blocks, threads = (
        " x ".join(map(str, size[: grid.axes])) if grid.axes > 1 else str(size[0])
        for size in (grid.grid, grid.block)
    )
    return f"{blocks} block{'' if grid.n_blocks == 1 else 's'} of {threads} thread{'' if grid.per_block == 1 else 's'}"


def _refused(fault: Fault, function: Any, label: str) -> Trace:
    """Return the trace of a kernel that cannot be compiled."""
    code = getattr(function, "py_func", function).__code__
    finding = Finding(fault.kind, f"{with_capital(fault.text)}.", fault.line or code.co_firstlineno)
    return Trace((finding,), code.co_name, label, {}, filename=code.co_filename)
