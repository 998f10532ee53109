"""Operations to be timed on a virtual GPU: they change their data, and the machine disturbs them."""

from __future__ import annotations

from dataclasses import dataclass

from gpuguide.exercises.stand_ins.virtual_gpu import Event, VirtualGpu

__all__ = ["Run", "VirtualOperation"]


@dataclass(frozen=True)
class Run:
    """One run of an operation.

    Attributes
    ----------
    event : Event
        Its launch.
    is_used : bool
        Whether it found its data as the run before had left them.
    factor : float
        Its time over that of a run that nothing disturbs.
    """

    event: Event
    is_used: bool
    factor: float


class VirtualOperation:
    """Work that overwrites its own data, such as sorting in place.

    A run on used data takes `used_share` of the time on fresh ones; `rhythm` holds the times of runs one
    after the other, over that of an undisturbed one, and is repeated.

    Attributes
    ----------
    work_s : float
        The true figure, in seconds.
    runs : list of Run
        What was run so far.

    >>> operation = VirtualOperation(VirtualGpu(), 8_000_000, 1_000_000, 0.25)
    >>> operation.run()
    >>> operation.run()
    >>> [run.is_used for run in operation.runs]
    [False, True]
    """

    def __init__(
        self,
        gpu: VirtualGpu,
        work_ns: int,
        prepare_ns: int,
        used_share: float,
        rhythm: tuple[float, ...] = (1.0,),
    ) -> None:
        self.work_s = work_ns * 1e-9
        self.runs: list[Run] = []
        self._gpu, self._work_ns, self._prepare_ns = gpu, work_ns, prepare_ns
        self._used_share, self._rhythm = used_share, rhythm
        self._is_used = False

    def prepare(self) -> None:
        """Queue a kernel that puts the data back as they were."""
        self._gpu.launch("prepare", busy_ns=self._prepare_ns)
        self._is_used = False

    def run(self) -> None:
        """Queue the work."""
        factor = self._rhythm[len(self.runs) % len(self._rhythm)]
        share = self._used_share if self._is_used else 1.0
        event = self._gpu.launch("run", busy_ns=self._work_ns * factor * share)
        self.runs.append(Run(event, self._is_used, factor))
        self._is_used = True
