"""The machine that studies run on, and the session that collects what a page measures and states."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import backends, device
from gpuguide.machine.device import ClockReading, DeviceInfo
from gpuguide.machine.memory import HOST, Space, device_space, free_pools, pinned_space, pool_bytes
from gpuguide.measure.ceilings import measure
from gpuguide.measure.clocks import CupyClock, GpuClock, HostClock, SystemClock
from gpuguide.measure.host_pace import PaceSince
from gpuguide.measure.kept import bytes_of, written_down
from gpuguide.measure.step_timer import StepTimer
from gpuguide.results.arrays import MOST_ARRAY_BYTES, KeptArray
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import ClaimResult, Fact
from gpuguide.results.results import Results

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Machine:
    """The clocks and memories that studies run on; tests put fakes in their place."""

    gpu: GpuClock | None = None
    info: DeviceInfo | None = None
    spaces: dict[str, Space] = field(default_factory=lambda: {"host": HOST})
    read_clocks: Callable[[], ClockReading] = device.clocks
    host: HostClock = field(default_factory=SystemClock)

    @classmethod
    def here(cls) -> Machine:
        """Return this machine: with its GPU, in the simulator, or with neither."""
        if backends.simulated():
            # Numba's simulator takes NumPy arrays: the host's memory stands in for the GPU's.
            return cls(spaces={"host": HOST, "device": HOST})
        if not backends.has_gpu():
            return cls()
        spaces = {"host": HOST, "pinned": pinned_space(), "device": device_space()}
        return cls(CupyClock(), device.current(), spaces)


@dataclass
class Session:
    """What one run of a page collects."""

    quick: bool = False
    budget_s: float | None = None
    ceilings: Ceilings | None = None
    seed: int = 0
    commit: str = ""
    clock: HostClock | None = None
    recording: bool = False
    drawing: bool = False
    studies: dict[str, Results] = field(default_factory=dict, init=False)
    facts: dict[str, Fact] = field(default_factory=dict, init=False)
    arrays: dict[str, KeptArray] = field(default_factory=dict, init=False)
    claims: list[ClaimResult] = field(default_factory=list, init=False)
    peak_memory_bytes: int = field(default=0, init=False)
    clocks_seen: list[ClockReading] = field(default_factory=list, init=False)
    steps: StepTimer = field(default_factory=StepTimer)
    given_machine: Machine | None = None
    host_pace: PaceSince = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        if self.budget_s is not None and not self.budget_s > 0:
            raise ArgumentError(
                f"Session.budget_s must be a positive number of seconds; got {self.budget_s!r}."
            )
        self._host = self.clock or SystemClock()
        self._start_ns = self._host.now_ns()
        # Not the clock of `self.machine`, which would look for a GPU now.
        given = None if self.given_machine is None else self.given_machine.host
        self.host_pace = PaceSince.now((self.clock or given or self._host).pace)

    @cached_property
    def machine(self) -> Machine:
        """The machine, made when first needed: only then is CUDA touched."""
        machine = self.given_machine or Machine.here()
        if self.clock is not None:
            machine.host = self.clock
        return machine

    def remaining_s(self) -> float:
        """Return the seconds left of the budget, at least 0; infinity without one."""
        if self.budget_s is None:
            return math.inf
        return max(0.0, self.budget_s - (self._host.now_ns() - self._start_ns) / 1e9)

    def measure_ceilings(self) -> Ceilings:
        """Return the ceilings; they are measured once per session, in a few seconds of GPU time."""
        if self.ceilings is None:
            gpu, info = self.gpu()
            with self.steps.step("ceilings"):
                self.ceilings = measure(gpu, info)
        return self.ceilings

    def gpu(self) -> tuple[GpuClock, DeviceInfo]:
        """Return the GPU's clock and what is known of the GPU; without one, the error holds the cure."""
        gpu, info = self.machine.gpu, self.machine.info
        if gpu is None or info is None:
            name = device.require_gpu().name  # raises, unless the session was set up not to use the GPU
            raise ArgumentError(f"This session was given a machine without a GPU; there is a {name}.")
        return gpu, info

    def read_clocks(self) -> ClockReading:
        """Read how the GPU runs now, and keep the reading."""
        self.clocks_seen.append(self.machine.read_clocks())
        return self.clocks_seen[-1]

    def free_memory(self) -> None:
        """Return to the driver what CuPy's pools hold unused, and note how much they held."""
        # A set, because in the simulator two names stand for one memory.
        for space in set(self.machine.spaces.values()):
            self.peak_memory_bytes = max(self.peak_memory_bytes, pool_bytes(space))
            free_pools(space)

    def add_study(self, results: Results) -> None:
        """Keep the results of a study; on a page, a name can be used once."""
        self._refuse_twice("study", results.name, self.studies)
        self.studies[results.name] = results

    def add_fact(self, new: Fact) -> Fact:
        """Keep a fact; on a page, a name can be used once."""
        self._refuse_twice("fact", new.name, self.facts)
        self.facts[new.name] = new
        return new

    def add_array(self, name: str, new: KeptArray) -> None:
        """Keep an array; on a page, a name can be used once."""
        self._refuse_twice("array", name, self.arrays)
        # Outside of a page, an array replaces one of the same name, so only the new one counts.
        n_bytes = bytes_of({**self.arrays, name: new}.values())
        if n_bytes > MOST_ARRAY_BYTES:
            raise ArgumentError(
                f"keep {name!r}: the arrays of a page may have {MOST_ARRAY_BYTES} bytes in all; with this "
                f"one they have {n_bytes}. Keep fewer elements, or a smaller dtype."
            )
        self.arrays[name] = new

    def add_claim(self, new: ClaimResult) -> None:
        """Keep a claim; on a page, a sentence can be claimed once."""
        self._refuse_twice("claim", new.text, [known.text for known in self.claims])
        self.claims.append(new)

    def _refuse_twice(self, kind: str, name: str, known: Container[str]) -> None:
        # At a prompt, running a cell again replaces the old value; on a page that would hide the first one.
        if (self.recording or self.drawing) and name in known:
            a = "an" if kind == "array" else "a"
            raise ArgumentError(
                f"There is {a} {kind} {name!r} already; give each {kind} of a page another name."
            )


# The first one serves calls from a prompt, without a session of their own.
_sessions: list[Session] = [Session()]


def current() -> Session:
    """Return the session that studies, facts and claims go into."""
    return _sessions[-1]


@contextmanager
def recording_session(**options: Any) -> Iterator[Session]:
    """Collect what a page measures."""
    with entered(Session(**{"recording": True, **options})) as session:
        yield session


@contextmanager
def entered(session: Session) -> Iterator[Session]:
    """Let a session collect what is measured and stated until the context ends; it can be entered again."""
    _sessions.append(session)
    try:
        yield session
    finally:
        _sessions.pop()


def machine_ceilings() -> Ceilings:
    """Return the most that this machine can do, by mix of reads and writes.

    Measured once per session; studies then show their share of it.

    Returns
    -------
    Ceilings
        Read, write, copy, two to one, PCIe, FP32, FP64, launch.

    Raises
    ------
    NoGpuError
        There is no GPU; the message holds the cure.

    Examples
    --------
    >>> from gpuguide.errors import NoGpuError
    >>> try:
    ...     best = machine_ceilings().get("copy").value
    ... except NoGpuError as error:
    ...     best = 0.0
    >>> best >= 0
    True
    """
    return current().measure_ceilings()


def fact(
    name: str, value: float | int | str, *, unit: str, samples: Sequence[float] = (), note: str = ""
) -> Fact:
    """Keep one figure that is not part of a sweep, so that the text can show it.

    Parameters
    ----------
    name : str
        Unique on its page; letters, digits, underscores.
    value : float, int or str
        Finite; in base units (seconds, bytes).
    unit : str
        ``"s"``, ``"B/s"``, ``"FLOP/s"``, ``"ratio"``, ``"share"``, ``"B"``, ``"1"``, ``"W"``, ``"Hz"`` or
        ``"text"``.
    samples : sequence of float
        The samples behind the value, in the same unit.
    note : str
        One sentence, if the name does not say enough.

    Returns
    -------
    Fact
        As kept.

    Raises
    ------
    ArgumentError
        Name, value or unit do not fit; or, on a page, the name is taken.

    Examples
    --------
    >>> fact("first_call_s", 0.41, unit="s").value
    0.41
    >>> fact("first_call_s", float("nan"), unit="s")
    Traceback (most recent call last):
        ...
    gpuguide.errors.ArgumentError: fact 'first_call_s': value must be finite; got nan.
    """
    _check_name("fact", name)
    # To Python, np.float32 is not a float and np.int64 not an int, so the checks below would let them pass.
    plain = value.item() if isinstance(value, np.generic) else value
    taken = tuple(float(sample) for sample in samples)
    # `Fact` refuses these, too, but cannot say which fact it was.
    for what, numbers in (("value", (plain,)), ("every sample", taken)):
        for number in numbers:
            if isinstance(number, float) and not math.isfinite(number):
                raise ArgumentError(f"fact {name!r}: {what} must be finite; got {number!r}.")
    return current().add_fact(Fact(name, plain, unit, taken, note))


def keep(name: str, array: Any) -> NDArray[Any]:
    """Keep a small array of numbers, so that a drawn cell can show it as a picture.

    Parameters
    ----------
    name : str
        Unique on its page; letters, digits, underscores. A drawn cell finds the array as ``arrays[name]``.
    array : array_like
        Of booleans, integers, floats or complex numbers, on the host or the device; all arrays of a page
        together have at most 128 KB, which count towards the 150 KB of its recording.

    Returns
    -------
    ndarray
        As kept: on the host, read-only.

    Raises
    ------
    ArgumentError
        The name does not fit or, on a page, is taken; the array holds something else, or too much.

    Examples
    --------
    >>> keep("image", [[0, 1], [1, 0]]).shape
    (2, 2)
    """
    _check_name("keep", name)
    # CuPy's arrays have `get` and NumPy's do not; asking for it does not import CuPy.
    on_host = array.get() if callable(getattr(array, "get", None)) else array
    try:
        kept = written_down(on_host)
    except (ArgumentError, ValueError) as error:
        raise ArgumentError(f"keep {name!r}: {error}") from None
    current().add_array(name, kept)
    # A copy, so that later changes to the caller's array do not matter.
    own = np.array(on_host)
    own.setflags(write=False)
    return own


def _check_name(function: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(
            f"{function}: name must be a word of letters, digits and underscores; got {name!r}."
        )
