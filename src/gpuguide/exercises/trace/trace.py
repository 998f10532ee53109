"""What one launch did: findings, figures, and methods that query it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuguide.errors import unknown
from gpuguide.exercises.trace import usage
from gpuguide.exercises.trace.faults import Remark
from gpuguide.exercises.trace.figures import Record
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.stats import ArrayStats, TraceStats

__all__ = ["ArrayStats", "Trace", "TraceStats"]


@dataclass(frozen=True, eq=False)
class Trace:
    """What `run` saw. Arrays bear the names that the reader's kernel gives them.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong whatever the exercise: races, indices out of range, barriers, reads before writes,
        endless loops, exceptions. Sorted, the most important first. They are the same in either order, unless
        the kernel itself depends on the order, for example through atomic counters.
    names : mapping of str to str
        From the key of each argument in `run` to the kernel's own name of it.
    record : Record
        Every access, for figures and drawings.
    remarks : mapping of Finding to tuple of Remark
        For findings about single threads and barriers: the remarks that they sum up.

    Examples
    --------
    >>> import numpy as np
    >>> from gpuguide.exercises.trace import prepare, run
    >>> kernel = prepare('''
    ... def first_half(x, out):
    ...     i = cuda.grid(1)
    ...     if i < x.size // 2:
    ...         out[i] = x[i]
    ... ''')
    >>> trace = run(kernel, 2, 32, {"x": np.ones(64, "f4"), "out": np.full(64, np.nan, "f4")})
    >>> trace.findings, trace.stats.bytes_read
    ((), 128)
    >>> print(trace.never_written("out"))
    32 of the 64 elements of out are never written, the first of them out[32].
    """

    findings: tuple[Finding, ...]
    names: Mapping[str, str]
    record: Record = field(repr=False)
    remarks: Mapping[Finding, tuple[Remark, ...]] = field(default_factory=dict, repr=False)

    @property
    def stats(self) -> TraceStats:
        """The figures, computed on first use."""
        return self.record.stats

    def written_twice(self, array: str) -> Finding | None:
        """Return a finding if an element of an array is stored to more than once, atomic operations left out.

        Parameters
        ----------
        array : str
            The kernel's own name of it, see `names`.

        Raises
        ------
        UnknownNameError
            The kernel has no argument of that name.
        """
        return usage.written_twice(self.record, self._argument(array))

    def never_written(self, array: str) -> Finding | None:
        """Return a finding if an element of an array is neither stored to nor changed by an atomic operation.

        Parameters
        ----------
        array : str
            The kernel's own name of it, see `names`.

        Raises
        ------
        UnknownNameError
            The kernel has no argument of that name.
        """
        return usage.never_written(self.record, self._argument(array))

    def uncoalesced(self, limit: float) -> Finding | None:
        """Return a finding if a line takes more sectors per request than a limit, on average.

        Parameters
        ----------
        limit : float
            Sectors of 32 bytes; a warp's 32 float32 in a row take 4.
        """
        return usage.uncoalesced(self.record, limit)

    def bank_conflicts(self, limit: int = 1) -> Finding | None:
        """Return a finding if a request to shared memory takes more passes than a limit.

        Parameters
        ----------
        limit : int
            Passes; 1 allows no conflict.
        """
        return usage.bank_conflicts(self.record, limit)

    def _argument(self, array: str) -> int:
        """Return the number of an argument's region."""
        numbers = {
            region.name: number
            for number, region in enumerate(self.record.setting.regions)
            if region.space == "global"
        }
        if array not in numbers:
            raise unknown("array", array, numbers)
        return numbers[array]
