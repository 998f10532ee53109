"""What an exercise is: its task as data, and the texts of its folder."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide.errors import ArgumentError

if TYPE_CHECKING:
    from gpuguide.exercises.simulator.findings import Finding

__all__ = ["LANES", "LEVELS", "POOL", "Call", "Exercise", "FunctionTask", "KernelTask", "Limits"]

LEVELS = ("beginner", "intermediate", "advanced")
"""The levels, easiest first."""

LANES = ("simulator", "compile", "gpu")
"""The lanes that can judge an answer, in the order of judging."""

POOL = Path(__file__).parent / "pool"
"""The folder that holds one folder per exercise."""


@dataclass(frozen=True)
class Call:
    """One launch that a kernel must get right.

    Attributes
    ----------
    label : str
        The launch in words: ``"n = 33, 2 blocks of 32 threads"``.
    grid, block : tuple of int
        Blocks per grid and threads per block, x first.
    arguments : dict
        NumPy arrays and scalars by name, in the order of the parameters; outputs are already poisoned.
    expected : dict
        Contents of the named arrays afterwards. An array that is not named must be unchanged, bit for bit.
    tolerance : float
        Largest absolute difference; 0 asks for equal values, where NaN equals NaN.
    shared_bytes : int
        Dynamic shared memory of a block, in bytes.
    loop_turns : int or None
        The most turns of loops that a thread may make here; None for the limit of the exercise.
    gpu_only : bool
        Whether the simulator leaves this launch out, as it would take too long there.

    Examples
    --------
    >>> import numpy as np
    >>> call = Call("n = 2, 1 block of 32 threads", (1,), (32,),
    ...     {"x": np.ones(2, np.float32), "out": np.full(2, np.nan, np.float32)},
    ...     {"out": np.full(2, 2, np.float32)})
    >>> list(call.arguments)
    ['x', 'out']
    """

    label: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: dict[str, Any]
    expected: dict[str, Any]
    tolerance: float = 0.0
    shared_bytes: int = 0
    loop_turns: int | None = None
    gpu_only: bool = False


@dataclass(frozen=True)
class Limits:
    """What an exercise requires besides right results; None where it sets no limit.

    Attributes
    ----------
    sectors_per_request : float or None
        The most sectors of 32 bytes that a request of a warp may touch on average, at the worst line that
        reads or writes global memory; judged where all arrays are contiguous. 4 is the best for 32 float32.
    bank_conflicts : int or None
        The highest degree of a conflict in shared memory; 1 is no conflict.
    reads_per_element, writes_per_element : int or None
        How often one element of global memory may be read or written, at the worst element of all arrays
        on which no atomic operation works. Reads of results do not count.
    reads_per_block : int or None
        How often one block may read one element of such an array.
    atomics, atomics_per_block, atomics_per_warp : int or None
        The most atomic operations on global memory in a launch, of one block, and of one warp.
    loop_turns : int or None
        The most turns of loops that a thread may make.
    active_threads : float or None
        The least share of the launched threads that must have touched global memory in a launch with as
        many threads as an array has elements. It rejects one thread that does everything.
    divergent_branches : float or None
        The largest share of the branches at which the threads of a warp may part, in such a launch.
    float64_instructions : int or None
        The most instructions in double precision (compile lane).

    Examples
    --------
    >>> Limits(sectors_per_request=4, active_threads=0.9).bank_conflicts is None
    True
    """

    sectors_per_request: float | None = None
    bank_conflicts: int | None = None
    reads_per_element: int | None = None
    writes_per_element: int | None = None
    reads_per_block: int | None = None
    atomics: int | None = None
    atomics_per_block: int | None = None
    atomics_per_warp: int | None = None
    loop_turns: int | None = None
    active_threads: float | None = None
    divergent_branches: float | None = None
    float64_instructions: int | None = None


@dataclass(frozen=True)
class KernelTask:
    """A kernel to write: it is launched many times and its results compared.

    Attributes
    ----------
    calls : callable
        Returns the launches, with fresh arrays each time; cheap ones first.
    limits : Limits
        What is required besides right results.
    signature : tuple of str
        Numba types of the arguments, for the compile lane: ``("float32[::1]", "float32[::1]")``.
    parameters : tuple of str
        Names of the parameters, as the statement calls them.

    Examples
    --------
    >>> import numpy as np
    >>> from gpuguide.exercises.cases import launches_1d, poisoned
    >>> def doubled(n, rng):
    ...     x = rng.normal(size=n).astype(np.float32)
    ...     return {"x": x, "out": poisoned(n)}, {"out": 2 * x}
    >>> task = KernelTask(lambda: launches_1d(doubled), parameters=("x", "out"))
    >>> task.calls()[0].label
    'n = 1, 1 block of 32 threads'
    """

    calls: Callable[[], Iterable[Call]]
    limits: Limits = Limits()
    signature: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class FunctionTask:
    """A function to write that runs on the host: it is called with stand-ins that watch it.

    Attributes
    ----------
    judge : callable
        Calls the function it is given and yields `Finding` objects; nothing when all is well.
    parameters : tuple of str
        Names of the parameters, as the statement calls them.
    praise : callable or None
        Returns a sentence on what a right function did, for the verdict.
    on_gpu : callable or None
        Judges like `judge`, but with the real CuPy, in the worker process of the lane "gpu"; None where the
        exercise has no such lane.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.findings import Finding
    >>> def judge(function):
    ...     if function(3) != 9:
    ...         yield Finding("wrong", f"The square of 3 is 9; got {function(3)}.")
    >>> task = FunctionTask(judge, parameters=("x",))
    >>> [finding.message for finding in task.judge(lambda x: x + x)]
    ['The square of 3 is 9; got 6.']
    """

    judge: Callable[[Callable[..., Any]], Iterable[Finding]]
    parameters: tuple[str, ...] = ()
    praise: Callable[[Callable[..., Any]], str] | None = None
    on_gpu: Callable[[Callable[..., Any]], Iterable[Finding]] | None = None


@dataclass(frozen=True)
class Exercise:
    """One exercise: its task, and the texts that lie in its folder.

    Attributes
    ----------
    name : str
        Its name, that of its folder.
    title : str
        One to six words.
    level : str
        ``"beginner"``, ``"intermediate"`` or ``"advanced"``.
    minutes : int
        How long it may take.
    teaches : str
        One sentence: what it teaches.
    task : KernelTask or FunctionTask
        What to write.
    lanes : tuple of str
        The lanes that judge it, out of ``("simulator", "compile", "gpu")``.
    decided_in : str
        The lane without which it does not count as solved, because the stub passes all others; empty if any
        lane that checks results will do.
    pages : tuple of str
        Pages of the guide that it belongs to.
    tags : tuple of str
        What it is about.
    folder : pathlib.Path or None
        Where its texts lie; by default the folder of its name in the pool.

    Raises
    ------
    ArgumentError
        A level or lane does not exist, there is no lane, or the deciding lane is not among them.

    Examples
    --------
    >>> from gpuguide.exercises import get
    >>> exercise = get("guard")
    >>> exercise.title, exercise.lanes, exercise.function_name
    ('Threads without an element', ('simulator', 'compile', 'gpu'), 'maximum_kernel')
    """

    name: str
    title: str
    level: str
    minutes: int
    teaches: str
    task: KernelTask | FunctionTask
    lanes: tuple[str, ...]
    decided_in: str = ""
    pages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ArgumentError(f"Exercise {self.name!r}: level must be one of {LEVELS}; got {self.level!r}.")
        if not self.lanes or not set(self.lanes) <= set(LANES):
            raise ArgumentError(f"Exercise {self.name!r}: lanes must be some of {LANES}; got {self.lanes!r}.")
        if self.decided_in not in ("", *self.lanes):
            raise ArgumentError(
                f"Exercise {self.name!r}: decided_in must be one of its lanes; got {self.decided_in!r}."
            )

    @cached_property
    def statement(self) -> str:
        """The task in Markdown, without its last line break."""
        return self._text("statement.md").strip()

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """The hints in Markdown, the gentlest first."""
        hints: list[list[str]] = [[]]
        for line in self._text("hints.md").splitlines():
            if line.strip() == "---":
                hints.append([])
            else:
                hints[-1].append(line)
        return tuple(text for lines in hints if (text := "\n".join(lines).strip()))

    @cached_property
    def stub(self) -> str:
        """Python source to start from."""
        return self._text("stub.py")

    @cached_property
    def solution(self) -> str:
        """Python source of one right answer."""
        return self._text("solution.py")

    @cached_property
    def function_name(self) -> str:
        """Name of the function to write: the last function at the top level of the stub."""
        functions = [node.name for node in ast.parse(self.stub).body if isinstance(node, ast.FunctionDef)]
        return functions[-1]

    def _text(self, name: str) -> str:
        return ((self.folder or POOL / self.name) / name).read_text(encoding="utf-8")
