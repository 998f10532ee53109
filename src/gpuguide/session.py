"""What one run of a page collects: studies, facts and claims, on one machine, within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpuguide import backends, device
from gpuguide.ceilings import measure
from gpuguide.device import ClockReading, DeviceInfo
from gpuguide.errors import ArgumentError
from gpuguide.memory import HOST, Space, device_space
from gpuguide.results import Ceilings, ClaimResult, Fact, Results
from gpuguide.timing import GpuClock, HostClock, SystemClock

__all__ = ["Machine", "Session", "current", "machine_ceilings", "recording_session"]


@dataclass
class Machine:
    """The clocks and memories that studies run on; tests put fakes in their place.

    Attributes
    ----------
    gpu : GpuClock or None
        None without a GPU.
    info : DeviceInfo or None
        What the GPU is.
    spaces : dict of str to Space
        ``"host"`` and, with a GPU or in the simulator, ``"device"``.
    read_clocks : callable
        Returns the GPU's clocks and why they are held down.
    host : HostClock
        The host's clock.
    """

    gpu: GpuClock | None = None
    info: DeviceInfo | None = None
    spaces: dict[str, Space] = field(default_factory=lambda: {"host": HOST})
    read_clocks: Callable[[], ClockReading] = field(default_factory=lambda: device.clocks)
    host: HostClock = field(default_factory=SystemClock)

    @classmethod
    def here(cls) -> Machine:
        """Return this machine: with its GPU, in the simulator, or with neither."""
        if backends.simulated():
            # Numba's simulator takes NumPy arrays: the host's memory stands in for the GPU's.
            return cls(spaces={"host": HOST, "device": HOST})
        if not backends.has_gpu():
            return cls()
        from gpuguide.timing_gpu import CupyClock

        clock: Any = CupyClock()
        return cls(clock, device.current(), {"host": HOST, "device": device_space()})


@dataclass
class Session:
    """What one run of a page collects.

    Parameters
    ----------
    quick : bool
        Take few samples; the results are marked and cannot be published.
    budget_s : float or None
        Seconds that the whole run may take; None: no limit.
    ceilings : Ceilings or None
        Ceilings measured before, to be used instead of measuring them; later, those that were measured.
    seed : int
        Another one gives other random inputs and orders.
    commit : str
        The commit that is measured.
    clock : HostClock, optional
        Replaces the machine's host clock.
    recording : bool
        Whether a claim that fails and a name used twice are errors.
    given_machine : Machine, optional
        Where studies run; by default this one, looked at when first needed.

    Attributes
    ----------
    studies : dict of str to Results
        By name, in the order they ran.
    facts : dict of str to Fact
        By name.
    claims : list of ClaimResult
        In the order they were made.
    peak_memory_bytes : int
        Most that CuPy's memory pool held after any size.

    Examples
    --------
    >>> session = Session(budget_s=10)
    >>> session.remaining_s() <= 10
    True
    """

    quick: bool = False
    budget_s: float | None = None
    ceilings: Ceilings | None = None
    seed: int = 0
    commit: str = ""
    clock: HostClock | None = None
    recording: bool = False
    studies: dict[str, Results] = field(default_factory=dict, init=False)
    facts: dict[str, Fact] = field(default_factory=dict, init=False)
    claims: list[ClaimResult] = field(default_factory=list, init=False)
    peak_memory_bytes: int = field(default=0, init=False)
    given_machine: Machine | None = None

    def __post_init__(self) -> None:
        """Start the clock."""
        if self.budget_s is not None and not self.budget_s > 0:
            raise ArgumentError(
                f"Session.budget_s must be a positive number of seconds; got {self.budget_s!r}."
            )
        self._host = self.clock or SystemClock()
        self._start_ns = self._host.now_ns()

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
        """Return the ceilings; measured once a session, a few seconds of GPU time.

        Raises
        ------
        NoGpuError
            There is no GPU; the message holds the cure.
        """
        if self.ceilings is None:
            gpu, info = self.machine.gpu, self.machine.info
            if gpu is None or info is None:
                info = device.require_gpu()
                raise ArgumentError(
                    f"This session was given a machine without a GPU; there is a {info.name}."
                )
            self.ceilings = measure(gpu, info)
        return self.ceilings

    def add_study(self, results: Results) -> None:
        """Keep the results of a study; while recording, a name can be used once."""
        self._refuse_twice("study", results.name, self.studies)
        self.studies[results.name] = results

    def add_fact(self, new: Fact) -> Fact:
        """Keep a fact; while recording, a name can be used once."""
        self._refuse_twice("fact", new.name, self.facts)
        self.facts[new.name] = new
        return new

    def add_claim(self, new: ClaimResult) -> None:
        """Keep a claim; while recording, a sentence can be claimed once."""
        self._refuse_twice("claim", new.text, [known.text for known in self.claims])
        self.claims.append(new)

    def _refuse_twice(self, kind: str, name: str, known: Any) -> None:
        if self.recording and name in known:
            raise ArgumentError(
                f"There is a {kind} {name!r} already; give each {kind} of a page another name."
            )


_sessions: list[Session] = [Session()]


def current() -> Session:
    """Return the session that studies, facts and claims go into.

    Returns
    -------
    Session
        The innermost recording session, else the one that every process starts with.
    """
    return _sessions[-1]


@contextmanager
def recording_session(**options: Any) -> Iterator[Session]:
    """Collect what a page measures, and let failing claims raise.

    Parameters
    ----------
    **options
        Of `Session`.

    Yields
    ------
    Session
        Current until the context ends.

    Examples
    --------
    >>> with recording_session(budget_s=60) as session:
    ...     made = session.add_fact(Fact("answer", 42, "1"))
    >>> session.facts["answer"].value
    42
    """
    session = Session(**{"recording": True, **options})
    _sessions.append(session)
    try:
        yield session
    finally:
        _sessions.remove(session)


def machine_ceilings() -> Ceilings:
    """Return what this machine can do at most, by mix of reads and writes.

    Measured once a session; studies then show their share of it.

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
