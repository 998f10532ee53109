"""Traces a launch: runs it thread by thread in plain Python, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.tracer.arguments import Arguments
from gpuguide.tracer.findings import Finding, count
from gpuguide.tracer.judge import Limits, doubles, findings_of, over_limits
from gpuguide.tracer.memory import Array, KernelError
from gpuguide.tracer.report import Trace
from gpuguide.tracer.run import Grid, Run, as_argument
from gpuguide.tracer.source import Program, Ready

__all__ = ["MOST_THREADS", "launch", "trace"]

MOST_THREADS = 4096


def trace(
    configured: Any, *arguments: Any, inputs: Iterable[str] = (), most_threads: int = MOST_THREADS
) -> Trace:
    """Run a launch of a Numba kernel thread by thread in plain Python, and say what is wrong with it.

    It needs no GPU. It finds indices out of bounds, races, barriers that not all threads reach, reads of
    shared memory that nobody wrote, changed inputs, and float64 by accident, and names thread, element and
    line.

    Parameters
    ----------
    configured : kernel[blocks, threads]
        A kernel of numba-cuda, of its simulator or of numba-cuda-mlir, with its blocks and threads.
    *arguments : array or number
        What the kernel is called with: arrays of NumPy or CuPy, lists, or numbers. The arrays hold the
        results afterwards.
    inputs : iterable of str
        Names of parameters whose arrays the kernel should leave as they are.
    most_threads : int
        A launch of more threads is cut down to its first and last blocks.

    Returns
    -------
    Trace
        What is wrong, as text and as data.

    Raises
    ------
    ArgumentError
        There is no launch, an argument is of a type that the tracer does not know, or the source of the
        kernel cannot be read.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide import tracer
    >>> file = tracer.load('''
    ... from numba import cuda
    ... @cuda.jit
    ... def double(x, out):
    ...     i = cuda.grid(1)
    ...     out[i] = 2 * x[i]
    ... ''')
    >>> x, out = [1, 2, 3], [0, 0, 0]
    >>> finding = gg.trace(file.double[1, 4], x, out).findings[0]
    >>> finding.kind, finding.thread, finding.line
    ('out_of_range', (3,), 6)
    >>> print(finding)
    Thread 3 of block 0 reads x[3] in line 6, but x has 3 elements.
    >>> out
    [2, 4, 6]
    """
    function, blocks, threads, shared_bytes = _configuration(configured)
    given = Arguments()
    values = [given.convert(value, position) for position, value in enumerate(arguments)]
    traced = launch(
        function,
        blocks,
        threads,
        values,
        inputs=inputs,
        limits=Limits(float64=False),
        shared_bytes=shared_bytes,
        most_threads=most_threads,
        most_turns=1_000_000,
    )
    given.give_back()
    return traced


def _configuration(configured: Any) -> tuple[Any, Any, Any, int]:
    """Return function, blocks, threads and shared bytes of what Numba, or its simulator, configured."""
    kept = getattr(configured, "_available_launch_config", {})  # of numba-cuda-mlir

    def first(*names: str) -> Any:
        values = (kept.get(name, getattr(configured, name, None)) for name in names)
        return next((value for value in values if value is not None), None)

    kernel = first("dispatcher", "kernel", "_dispatcher") or configured
    function = getattr(kernel, "py_func", None)
    size = [
        first("griddim", "grid_dim", "grid"),
        first("blockdim", "block_dim", "block"),
        first("sharedmem", "dynshared_size"),
    ]
    if function is None or size[0] is None or size[1] is None:
        raise ArgumentError(
            "gg.trace expects a kernel with its blocks and threads, then the arguments: "
            f"gg.trace(kernel[blocks, threads], x, out). Got {type(configured).__name__}."
        )
    blocks, threads = ([each] if isinstance(each, int) else [*each] for each in size[:2])
    while len(blocks) == len(threads) > 1 and blocks[-1] == threads[-1] == 1:
        del blocks[-1], threads[-1]  # Numba fills up to three axes
    return function, blocks, threads, int(size[2] or 0)


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
    r"""Trace one launch of a kernel."""
    grid = Grid(*(((size,) if isinstance(size, int) else tuple(size)) for size in (blocks, threads)))
    limits = limits or Limits()
    program = Program(watch_branches=limits.divergent_branches is not None)
    try:
        kernel = program.ready(function, kernel=True)
    except KernelError as error:
        return _refused(error, function, grid)
    given = _named(arguments, kernel)
    values = {
        name: as_argument(value, own)
        for (name, value), own in zip(given.items(), kernel.parameters, strict=True)
    }
    arrays = {name: value for name, value in values.items() if isinstance(value, Array)}
    results = dict(expected or {})
    if inputs is None:
        inputs = [name for name in arrays if name not in results] if expected is not None else []
    before = {name: list(arrays[name].memory.cells) for name in inputs if name in arrays}
    chosen, notes = _blocks(grid, most_threads)
    run = Run(program, kernel, grid, arrays, shared_bytes=shared_bytes, most_turns=most_turns)
    run.execute(list(values.values()), chosen, reverse=reverse)
    right = {} if notes else {name: _flat(value) for name, value in results.items()}
    findings = findings_of(run, before, right, tolerance)
    if run.fences:
        notes.append("The kernel uses cuda.threadfence(), so races between blocks were not looked for.")
    own_arrays = {name: value for name, value in given.items() if isinstance(value, Array)}
    traced = Trace((), kernel.name, str(grid), own_arrays, tuple(notes), kernel.filename, len(chosen), run)
    if not findings and limits != Limits(float64=limits.float64):
        findings = over_limits(run, traced.counts, results, limits)
    findings += doubles(run, limits)
    traced.findings = tuple(findings)
    return traced


def _named(arguments: Mapping[str, Any] | Sequence[Any], kernel: Ready) -> dict[str, Any]:
    if len(arguments) != len(kernel.parameters):
        takes = count(len(kernel.parameters), "argument")
        raise ArgumentError(
            f"{kernel.name} takes {takes} ({', '.join(kernel.parameters)}); got {len(arguments)}."
        )
    if isinstance(arguments, Mapping):
        return dict(arguments)
    return dict(zip(kernel.parameters, arguments, strict=True))


def _flat(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, Array) else list(value)
    while values and isinstance(values[0], list | tuple):
        values = [item for row in values for item in row]
    return values


def _blocks(grid: Grid, most_threads: int | None) -> tuple[Sequence[int], list[str]]:
    """Choose the blocks that run: all of them, or the first and the last ones."""
    n = grid.n_blocks
    ends = max(1, (most_threads or 0) // grid.per_block // 2)
    if most_threads is None or grid.n_threads <= most_threads or 2 * ends >= n:
        return range(n), []
    which = "the first and the last" if ends == 1 else f"the first {ends:,} and the last {ends:,}"
    note = f"Of {n:,} blocks only {which} were traced, so the results are incomplete."
    return [*range(ends), *range(n - ends, n)], [note]


def _refused(error: KernelError, function: Any, grid: Grid) -> Trace:
    """Return the trace of a kernel that cannot be compiled."""
    code = getattr(function, "py_func", function).__code__
    finding = Finding(error.kind, error.text, error.line or code.co_firstlineno)
    return Trace((finding,), code.co_name, str(grid), {}, filename=code.co_filename)
