"""Runs a kernel thread by thread, always in the same order, and hands back what every thread touched."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gpuguide.exercises.trace.prepare import TracedKernel
from gpuguide.exercises.trace.trace import Trace

__all__ = ["STEP_LIMIT", "run"]

#: Turns of loops that one thread may make before its loop counts as endless.
STEP_LIMIT = 100_000


def run(
    kernel: TracedKernel,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    arguments: Mapping[str, object],
    *,
    order: str = "forward",
    shared_bytes: int = 0,
    step_limit: int = STEP_LIMIT,
    outputs: Collection[str] | None = None,
) -> Trace:
    """Launch a kernel in the tracing simulator.

    Parameters
    ----------
    kernel : TracedKernel
        What `prepare` made.
    grid, block : int or tuple of int
        As in ``kernel[grid, block]``: one to three axes.
    arguments : mapping of str to object
        In the order of the kernel's parameters: NumPy arrays (of any strides, changed in place) and scalars.
    order : str
        ``"forward"``, or ``"reverse"``: the blocks, and the threads of a block, the last one first.
    shared_bytes : int
        Dynamic shared memory of a block.
    step_limit : int
        Turns of loops that one thread may make.
    outputs : collection of str, optional
        Arguments that hold nothing yet, so that a read before a write is a finding. By default those
        whose every element is NaN or the smallest integer of its signed type.

    Returns
    -------
    Trace
        Whatever the kernel does: an exception in it, an index out of range or an endless loop is a finding.

    Raises
    ------
    ArgumentError
        The launch itself makes no sense: no thread, too many threads, as many arguments as parameters
        were expected, an argument of a type that no kernel takes.
    """
    raise NotImplementedError
