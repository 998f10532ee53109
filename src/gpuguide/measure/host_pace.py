"""Tells whether the host's processor is ours alone: the same few lines of Python, timed again and again.

On a virtual machine, others may share the processor underneath, and nothing reports it: host work then takes
up to twice as long, for milliseconds or for minutes. So each sample by the host's clock is
taken beside a loop whose work never changes. Only the loop's time says whether a sample was taken *alone*
or *in company*; the sample's own time never does, since that would be picking the numbers that one likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = [
    "MIN_ALONE",
    "SHARED_NOTE",
    "TRIES",
    "HostPace",
    "PaceSince",
    "plain_loop",
    "taken_alone",
]

TRIES = 4
"""The most times that a sample is taken until one of them is taken alone."""
MIN_ALONE = 5
"""Number of samples taken alone that is enough to leave out those in company."""
SHARED_NOTE = "the host's processor was shared while this was measured"
"""The remark on samples that were kept although others used the processor."""

_ALONE = 1.2  # alone, the loop takes 1.0 to 1.15 times its best; in company 1.4 to 2 times
_LEARNING_LOOPS = 400  # about 10 ms: later readings in the same phase seldom beat the best of them
_STEPS = 600

T = TypeVar("T")


def plain_loop() -> None:
    """Do a fixed piece of work in plain Python, some 20 to 50 us, with small integers."""
    total = 0
    for i in range(_STEPS):
        # Kept small, so that every step costs the same.
        total = (total + i) & 127


@dataclass
class HostPace:
    """The loop, its best time so far, and how many samples were taken beside it."""

    now_ns: Callable[[], int]
    loop: Callable[[], None] = plain_loop
    n_learning: int = _LEARNING_LOOPS
    best_ns: int | None = field(default=None, init=False)
    n_samples: int = field(default=0, init=False)
    n_in_company: int = field(default=0, init=False)

    def read(self) -> int:
        """Return the nanoseconds of the loop now: the better of two, because the first finds cold caches."""
        if self.best_ns is None:
            self.best_ns = min((self._once() for _ in range(self.n_learning)), default=None)
        reading = min(self._once(), self._once())
        self.best_ns = reading if self.best_ns is None else min(reading, self.best_ns)
        return reading

    def is_alone(self, reading_ns: int) -> bool:
        """Say whether the loop was about as fast as ever; a reading of 0 means no reading."""
        return self.best_ns is None or reading_ns <= _ALONE * self.best_ns

    def count(self, reading_ns: int) -> None:
        """Note that a sample was taken at this pace."""
        self.n_samples += 1
        self.n_in_company += not self.is_alone(reading_ns)

    def kept(self, readings_ns: Sequence[int]) -> tuple[list[int], bool]:
        """Choose among samples by the loop's times beside them."""
        alone = [i for i, reading in enumerate(readings_ns) if self.is_alone(reading)]
        if len(alone) == len(readings_ns) or len(alone) >= MIN_ALONE:
            return alone, False
        return list(range(len(readings_ns))), True

    def _once(self) -> int:
        start = self.now_ns()
        self.loop()
        return self.now_ns() - start


def taken_alone(take: Callable[[], tuple[T, int]], pace: HostPace, *, tries: int = TRIES) -> tuple[T, int]:
    """Take a sample until it was taken alone, at most `tries` times."""
    for left in reversed(range(tries)):
        sample, reading = take()
        pace.count(reading)
        # The last one is kept even in company: the caller must get a sample, and `kept` judges it again.
        if left == 0 or pace.is_alone(reading):
            break
    return sample, reading


@dataclass(frozen=True)
class PaceSince:
    """The host's pace since a given moment, such as the start of a run."""

    pace: HostPace
    n_samples: int
    n_in_company: int

    @classmethod
    def now(cls, pace: HostPace) -> PaceSince:
        """Begin at this moment."""
        return cls(pace, pace.n_samples, pace.n_in_company)

    @property
    def best_s(self) -> float | None:
        """Least seconds of the loop in this process; None when no sample was taken beside it since then."""
        if self.pace.best_ns is None or self.pace.n_samples == self.n_samples:
            return None
        return self.pace.best_ns / 1e9

    @property
    def shared(self) -> float | None:
        """Share of the samples since then that were taken in company; None when there are none."""
        n = self.pace.n_samples - self.n_samples
        return (self.pace.n_in_company - self.n_in_company) / n if n else None
