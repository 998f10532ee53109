"""A reader's own run of a page's studies: at sizes that fit here, kept when it is interrupted.

The harness checks and times; this only chooses the sizes, and says where a run was made.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpuguide.machine.cpu import cpu_info
from gpuguide.measure.plan import Variant
from gpuguide.measure.provenance import make_provenance, start_of_recording
from gpuguide.measure.runner import CPU_LIMIT_S, Runner
from gpuguide.measure.session import Session
from gpuguide.measure.study import Study
from gpuguide.recordings.keys import key_of
from gpuguide.recordings.recording import Run
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

__all__ = ["INTERRUPTED", "QUICK_S", "OwnRunner", "PageRun", "within_free_memory"]

QUICK_S = 10.0
"""Seconds that a quick run of a page may take."""
# Compilers are not in the estimates.
_PLANNED_S = 0.6 * QUICK_S
INTERRUPTED = "the run was interrupted"

# Of a quick run: seconds of the checks for each element, until larger sizes were checked here, and of the
# samples of a variant; and the calls of a slow one, those of the checks included.
_GATE_S, _VARIANT_S, _CALLS = 1e-7, 0.06, 10
# Of the seconds of a study, those that one variant may take at a size.
_MOST_SHARE = 0.25
# Squares and cubes stay squares and cubes.
_SHRINK = 64

Advance = Callable[[int, str], None]


@dataclass
class OwnRunner(Runner):
    """Runs a study at the sizes for which there is time, if that is limited; Ctrl-C keeps what there is."""

    seconds: float = math.inf
    most_seconds: float = math.inf  # for the first size, without which there would be nothing
    #: Variant -> size and seconds of a call of the guide's CPU, until it was called here.
    guide_s: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    advance: Advance = lambda cells, done: None
    now: Callable[[], float] = time.monotonic
    interrupted: bool = field(default=False, init=False)
    _gate_s: dict[int, float] = field(default_factory=dict, init=False)

    def run(self) -> Results:
        """Check and time every cell; Ctrl-C ends it with the sizes that are done."""
        begin, n = self.now(), len(self.variants)
        if self.seconds < math.inf:
            self.sizes = self._with_smaller(self.sizes)
        left = list(self.sizes)
        try:
            compared = any(variant.needs_gpu and variant.traffic for variant in self.variants)
            if compared and not self.quick and self.session.machine.gpu is not None:
                self.session.measure_ceilings()
            while left:
                size = left[0]
                limit = self.seconds - (self.now() - begin) if self._gate_s else self.most_seconds
                if self._expected_s(size) > limit:
                    self._leave_out(size, f"no time was left in the {QUICK_S:g} s of a quick run")
                else:
                    before = self._gate_seconds()
                    self._size(size, cells_left=len(left) * n)
                    self._gate_s[size] = self._gate_seconds() - before
                left.pop(0)
                self.advance(n, f"{format_size(size)} {self.plan.size_name}")
        except KeyboardInterrupt:
            self.interrupted = True
            for size in left:
                self._leave_out(size, INTERRUPTED)
        return self._results()

    def _with_smaller(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Put a smaller size before the first, if that one would take too long."""
        smaller, least = sizes[0], 2 * _VARIANT_S * len(self.variants)
        while self._expected_s(smaller) > max(self.seconds, least) and smaller % _SHRINK == 0:
            smaller //= _SHRINK
        return tuple(sizes) if smaller == sizes[0] else (smaller, *sizes)

    def _leave_out(self, size: int, why: str) -> None:
        self.measurements = [cell for cell in self.measurements if cell.size != size]
        self.checks = [check for check in self.checks if check.size != size]
        for variant in self.variants:
            self._skip(variant, size, why)

    def _expected_s(self, size: int) -> float:
        """Estimate the seconds of a size: of its checks and of its samples."""
        has_gpu = self.session.machine.gpu is not None
        able = [each for each in self.variants if each.up_to is None or size <= each.up_to]
        samples = (self._samples_s(variant, size) for variant in able if has_gpu or not variant.needs_gpu)
        return self._expected_gate_s(size) + sum(samples)

    def _expected_gate_s(self, size: int) -> float:
        """Estimate the seconds of checks: growing as they did between the last two sizes."""
        least, known = size * _GATE_S, sorted(self._gate_s.items())
        # The first says little, because it includes compilers.
        if len(known) < 2:
            return least
        (n_before, before), (n, last) = known[-2:]
        return max(least, last + max(0.0, last - before) / (n - n_before) * (size - n))

    def _samples_s(self, variant: Variant, size: int) -> float:
        at, took = self._took_s.get(variant.name) or self.guide_s.get(variant.name, (size, 0.0))
        call_s = took * size / at
        # Beyond the limit it is skipped, if it was called here before.
        skipped = variant.name in self._took_s and call_s > self._call_limit_s
        return 0.0 if skipped else max(_VARIANT_S, _CALLS * call_s)

    @property
    def _call_limit_s(self) -> float:
        return min(CPU_LIMIT_S, _MOST_SHARE * self.seconds / _CALLS)

    def _why_too_slow(self, variant: Variant, size: int) -> str:
        """Leave a slow variant out of a quick run, in which it would cost the others their sizes."""
        before, took_s = self._took_s.get(variant.name, (size, 0.0))
        if self._call_limit_s < took_s * size / before <= CPU_LIMIT_S:
            return f"too slow for the {QUICK_S:g} s of a quick run"
        return super()._why_too_slow(variant, size)

    def _gate_seconds(self) -> float:
        seconds = self.session.steps.seconds
        return sum(seconds.get(step, 0.0) for step in ("inputs", "reference", "gate"))


@dataclass
class PageRun:
    """A run of some studies of a page, one after another."""

    page: str
    session: Session
    quick: bool = False
    sizes: Sequence[int] | None = None
    studies: dict[str, Results] = field(default_factory=dict, init=False)
    interrupted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Start the clocks."""
        self._begin = time.monotonic()
        self._cpu_before = cpu_info()

    def measure(
        self,
        study: Study,
        names: Sequence[str] | None = None,
        *,
        guide: Results | None = None,
        n_left: int = 1,
        advance: Advance = lambda cells, done: None,
    ) -> Results:
        """Run a study; `n_left` studies, with this one, share what is left of a quick run."""
        # Sizes that somebody asked for are taken.
        limited = self.quick and self.sizes is None
        left = max(0.0, _PLANNED_S - (time.monotonic() - self._begin)) if limited else math.inf
        runner = OwnRunner(
            study,
            self.session,
            study.chosen(names),
            study.sizes if self.sizes is None else self.sizes,
            quick=self.quick,
            guide_s=_cpu_seconds(guide) if guide else {},
            seconds=left / n_left,
            most_seconds=left,
            advance=advance,
        )
        with within_free_memory():
            results = runner.run()
        self.interrupted = runner.interrupted
        if not self.interrupted or any(cell.n for cell in results.measurements):
            self.studies[study.name] = results
        return results

    def run(self) -> Run:
        """Return what was measured, in the form of a recording's run; its cells are those of no page."""
        source = Path(__file__).parents[1]
        key = key_of([f"import gpuguide.topics.{self.page}"], source)
        info = self.session.machine.info
        machine, seconds = info.slug if info else "cpu", time.monotonic() - self._begin
        peak = self.session.peak_memory_bytes or None
        start = start_of_recording()
        return Run(
            machine,
            self.page,
            make_provenance(machine, "", seconds, peak, self._cpu_before, self.session, start),
            replace(key, cells=()),
            ceilings=self.session.ceilings,
            studies=self.studies,
        )


def _cpu_seconds(guide: Results) -> dict[str, tuple[int, float]]:
    """Take the seconds of a call at the smallest size, of each variant on the CPU."""
    series = {info.name: guide.series(info.name) for info in guide.variants if info.device == "cpu"}
    return {name: (each.sizes[0], each.medians_s[0]) for name, each in series.items() if each.sizes}


@contextmanager
def within_free_memory(root: Path = Path("/")) -> Iterator[None]:
    """Let an allocation fail that the host's free memory cannot hold, so that its size is left out and named.

    Linux would hand out the memory and end the program when it is written to. Elsewhere nothing is limited.
    """
    free = _free_host_bytes(root)
    used = re.search(r"VmData:\s+(\d+)", _text(Path("/proc/self/status")))
    if free is None or used is None:
        yield
        return
    # Not on every system.
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = 1024 * int(used[1]) + free
    resource.setrlimit(resource.RLIMIT_DATA, (limit if soft < 0 else min(limit, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _free_host_bytes(root: Path = Path("/")) -> int | None:
    """Return the host's free memory, or what is left of a container's; None where the system does not say."""
    free = []
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free.append(1024 * int(line.split()[1]))
    group = root / "sys/fs/cgroup"
    limit, used = _text(group / "memory.max").strip(), _text(group / "memory.current").strip()
    if limit.isdigit() and used.isdigit():
        free.append(max(0, int(limit) - int(used)))
    return min(free, default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
