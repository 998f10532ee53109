"""The records of a run that belong to no study: single facts, claims, and where it all comes from."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuguide.errors import ArgumentError
from gpuguide.fields import SIGNED, check_fields, one_of

__all__ = ["ClaimResult", "Fact", "Provenance"]


@dataclass(frozen=True)
class Fact:
    """One named value that is not part of a sweep.

    Parameters
    ----------
    name : str
        Unique on its page.
    value : float, int or str
        The value in ``unit``.
    unit : str
        ``"s"``, ``"B/s"``, ``"FLOP/s"``, ``"ratio"``, ``"share"``, ``"B"``, ``"1"``, ``"W"``, ``"J"``,
        ``"Hz"``, or ``"text"`` for a str.
    samples : tuple of float
        What the value was taken from, in the same unit.
    note : str
        One sentence, where the name does not say enough.

    Raises
    ------
    ArgumentError
        If the unit is unknown, or the value is not of its kind.

    Examples
    --------
    >>> Fact("first_call", 0.41, "s").value
    0.41
    >>> Fact("first_call", "0.41", "s")
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Fact 'first_call': expected a number for unit 's'; got '0.41'.
    """

    name: str
    value: float | int | str = field(metadata=SIGNED)
    unit: str = field(
        metadata=one_of("s", "B/s", "FLOP/s", "ratio", "share", "B", "1", "W", "J", "Hz", "text")
    )
    samples: tuple[float, ...] = field(default=(), metadata=SIGNED)
    note: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        kind = "a text" if self.unit == "text" else "a number"
        if isinstance(self.value, bool) or isinstance(self.value, str) != (self.unit == "text"):
            raise ArgumentError(
                f"Fact {self.name!r}: expected {kind} for unit {self.unit!r}; got {self.value!r}."
            )


@dataclass(frozen=True)
class ClaimResult:
    """Whether a sentence held for the interval that was measured.

    Parameters
    ----------
    text : str
        The sentence.
    holds : bool or None
        None where it could not be decided.
    low, high : float or None
        The interval that it was decided on, in ``unit``, where there was one.
    unit, expression : str
        The interval's unit; the code that decided.

    Examples
    --------
    >>> ClaimResult("Four a thread beat one", True, 1.6, 1.7, "ratio").holds
    True
    """

    text: str
    holds: bool | None
    low: float | None = field(default=None, metadata=SIGNED)
    high: float | None = field(default=None, metadata=SIGNED)
    unit: str = ""
    expression: str = ""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where, when and with what a run was made: what one needs to take the numbers again.

    Numbers that a machine does not tell are None, texts are empty.

    Parameters
    ----------
    machine : str
        The machine's short name, ``"nvidia-h200"``.
    gpu : str
        The GPU's full name.
    compute_capability : tuple of int or None
        Major and minor version.
    sm_count, l2_bytes, memory_bytes : int or None
        Streaming multiprocessors; bytes of the L2 cache and of the device memory.
    sm_clock_hz, memory_clock_hz, power_limit_w : float or None
        Highest clocks, power limit.
    ecc : bool or None
        Whether error correction is on.
    driver, cuda, compiler : str
        Versions of the driver and of CUDA; the name and version of what compiled the kernels.
    versions : tuple of (str, str)
        Name and version of each package.
    cpu : str
        Model of the CPU.
    n_cpus, threads : int or None
        Logical (often virtual) CPUs of the host; threads that libraries were allowed.
    blas : str
        The BLAS that NumPy calls.
    steal_s : float or None
        CPU seconds that the hypervisor gave to others during the run.
    utc_date, commit : str
        ISO 8601 date; the commit that was measured.
    run_time_s : float or None
        Duration of the whole run.
    peak_memory_bytes : int or None
        Most device memory in use at once.
    python, platform : str
        Version of Python; operating system.

    Examples
    --------
    >>> import dataclasses
    >>> names = [field.name for field in dataclasses.fields(Provenance)]
    >>> len(names), names[:3]
    (25, ['machine', 'gpu', 'compute_capability'])
    """

    machine: str
    gpu: str
    compute_capability: tuple[int, int] | None
    sm_count: int | None
    l2_bytes: int | None
    memory_bytes: int | None
    sm_clock_hz: float | None
    memory_clock_hz: float | None
    power_limit_w: float | None
    ecc: bool | None
    driver: str
    cuda: str
    compiler: str
    versions: tuple[tuple[str, str], ...]
    cpu: str
    n_cpus: int | None
    threads: int | None
    blas: str
    steal_s: float | None
    utc_date: str
    commit: str
    run_time_s: float | None
    peak_memory_bytes: int | None
    python: str
    platform: str

    def __post_init__(self) -> None:
        check_fields(self)
