"""Whether this GPU is as fast as it should be: rates against their peaks, and a sentence for what is off."""

from __future__ import annotations

import json
import os
import platform
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from gpuguide.machine import backends
from gpuguide.machine.cuda_errors import explain
from gpuguide.machine.device import ClockReading, DeviceInfo
from gpuguide.measure import ceilings
from gpuguide.measure.clocks import GpuClock, HostClock
from gpuguide.measure.session import Machine, Session, entered
from gpuguide.recordings import store
from gpuguide.recordings.recording import Recording, machine_name
from gpuguide.results.tables import Column, Row, Table
from gpuguide.results.units import format_quantity

__all__ = ["THINGS", "Finding", "Health", "State", "Thing", "check", "recorded_machines"]

_COPIED = 2**28
_LOAD_S = 0.6
# Bytes per second of a lane in one direction, by generation: its transfers less their encoding.
_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
# A desktop shows windows; below this, nobody else computes.
_BUSY = 0.1
_CLOCK_DOWN = 0.95


@dataclass(frozen=True)
class Thing:
    """One thing that is measured, and the value from which on it is off."""

    name: str
    group: str
    label: str
    unit: str
    least_share: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def title(self) -> str:
        """Both names, as a sentence begins."""
        return f"{self.group[0].upper()}{self.group[1:]}, {self.label}"

    def words(self, values: Mapping[str, float]) -> str:
        """Write its value of one machine; empty where there is none."""
        return format_quantity(values[self.name], self.unit) if self.name in values else ""


# A share that healthy GPUs of all kinds reach; those without a peak are far from what any healthy host does.
THINGS = (
    Thing("copy", "GPU memory", "copy", "B/s", least_share=0.7),
    Thing("fp32", "arithmetic", "FP32", "FLOP/s", least_share=0.8),
    Thing("h2d", "host to GPU", "pinned", "B/s", least_share=0.7),
    Thing("h2d_pageable", "host to GPU", "pageable", "B/s", least=2e9),
    Thing("d2h", "GPU to host", "pinned", "B/s", least_share=0.7),
    Thing("d2h_pageable", "GPU to host", "pageable", "B/s", least=2e9),
    Thing("launch", "empty kernel", "on the GPU, in a graph", "s", most=5e-6),
    Thing("launch_host", "empty kernel", "launch, on the host", "s", most=20e-6),
)


@dataclass(frozen=True)
class State:
    """What else the driver and the system say; None or empty where they do not.

    `busy` is the share of time in which the GPU worked before anything of this ran; `load` is a reading under
    load, and `link` generation and lanes of the bus after copies.
    """

    busy: float | None = None
    default_limit_w: float | None = None
    load: ClockReading = field(default_factory=ClockReading)
    link: tuple[int, int] | None = None
    blocking: bool = False
    wsl: bool = False
    has_nvml: bool = True


@dataclass(frozen=True)
class Finding:
    """One sentence: what is off, or a note that explains a number and is no fault."""

    status: Literal["off", "note"]
    subject: str
    words: str


@dataclass(frozen=True)
class Health:
    """What was measured of this GPU, and how it stood."""

    gpu: DeviceInfo
    values: dict[str, float]
    state: State
    missing: dict[str, str] = field(default_factory=dict)
    recorded: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def peaks(self) -> dict[str, float]:
        """The physical peaks, where they are known."""
        return _peaks(self.gpu.peak_memory_bandwidth, self.gpu.peak_flops("fp32"), _link(self.gpu.pcie))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Say what is off, and what explains a number."""
        return tuple(_findings(self))

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is off."""
        return not any(finding.status == "off" for finding in self.findings)

    def table(self) -> Table:
        """Return the rates beside their peaks, and those of the guide's machines."""
        columns = [Column("here", "here", numeric=True), Column("share", "of its peak", numeric=True)]
        columns += [Column(name, name, numeric=True) for name in self.recorded]
        rows = [Row(thing.group, thing.label, self._cells(thing), self._lack(thing)) for thing in THINGS]
        link = "" if self.gpu.pcie == "unknown" else f", PCIe {self.gpu.pcie}"
        caption = f"{self.gpu.name}, driver {self.gpu.driver}{link}"
        return Table(caption, "what", "how", tuple(columns), tuple(rows))

    def text(self, width: int) -> str:
        """Write the table, the verdict and a sentence for each finding."""
        n = sum(finding.status == "off" for finding in self.findings)
        verdict = f"{n} thing{'s are' if n > 1 else ' is'} off:" if n else "Healthy: nothing is off."
        # What is off first.
        ordered = sorted(self.findings, key=lambda finding: finding.status != "off")
        lines = [f"- {'note: ' * (each.status == 'note')}{each.words}" for each in ordered]
        filled = (textwrap.fill(line, width, subsequent_indent="  ") for line in lines)
        return "\n".join((self.table().text(), "", verdict, *filled))

    def as_json(self) -> str:
        """Write everything for a report or a script."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in ("values", "peaks", "missing")}
        parts = {"gpu": asdict(self.gpu), **parts, "state": asdict(self.state)}
        return json.dumps({**parts, "findings": [asdict(each) for each in self.findings]}, indent=1)

    def _cells(self, thing: Thing) -> dict[str, str]:
        cells = {name: thing.words(values) for name, values in self.recorded.items()}
        cells["here"] = thing.words(self.values)
        if share := self.share(thing.name):
            cells["share"] = format_quantity(min(share, 1.0), "share")
        return cells

    def _lack(self, thing: Thing) -> str:
        return f"not measured ({self.missing[thing.name]})" if thing.name in self.missing else ""

    def share(self, name: str) -> float | None:
        """Return the share that a rate reaches of its peak; None where one of them is unknown."""
        peak = self.peaks.get(name)
        return self.values[name] / peak if peak and name in self.values else None


def check(machine: Machine | None = None, *, say: Callable[[str], None] = lambda words: None) -> Health:
    """Measure this GPU, which takes seconds; `say` is told what is being done."""
    session = Session(given_machine=machine)
    with entered(session):
        gpu, info = session.gpu()
        host = session.machine.host
        say("what else runs on it")
        before = _before()
        values: dict[str, float] = {}
        missing: dict[str, str] = {}
        load, link = ClockReading(), None
        for words, names, step in _steps(session, gpu, info):
            say(words)
            try:
                values |= step()
            except Exception as error:  # of whatever library: the other rates are worth having
                missing |= dict.fromkeys(names, _in_one_line(error))
            if "h2d" in names:
                link = _link_now()
            # The next step may need the room.
            session.free_memory()
        with suppress(Exception):
            say("clocks under load")
            load = _under_load(session, gpu, info, host)
    state = State(load=load, link=link, **before)
    return Health(info, values, state, missing, recorded_machines())


def recorded_machines() -> dict[str, dict[str, float]]:
    """Return what the guide recorded of the same things, one machine for each kind of GPU."""
    machines: dict[str, dict[str, float]] = {}
    kinds = set()
    for name in store.machines():
        # The page on transfers has copies of pageable memory as well.
        recordings = (store.load_or_none(page, name) for page in ("transfers", *store.pages(name)))
        with_ceilings = next((each for each in recordings if each and each.ceilings), None)
        if with_ceilings is not None and with_ceilings.provenance.gpu not in kinds:
            kinds.add(with_ceilings.provenance.gpu)
            machines[machine_name(with_ceilings)] = _values(with_ceilings)
    return machines


def _values(recording: Recording) -> dict[str, float]:
    assert recording.ceilings is not None
    known = {thing.name for thing in THINGS}
    values = {item.mix: item.value for item in recording.ceilings.items if item.mix in known}
    for name, study, variant in _PAGEABLE:
        with suppress(KeyError, LookupError):
            results = recording.studies[study]
            if rate := results.rate(variant, _COPIED):
                values[name] = rate.value
    return values


_PAGEABLE = (("h2d_pageable", "to_device", "pageable"), ("d2h_pageable", "to_host", "into_pageable"))

_Step = tuple[str, tuple[str, ...], Callable[[], dict[str, float]]]


def _steps(session: Session, gpu: GpuClock, info: DeviceInfo) -> Iterator[_Step]:
    host = session.machine.host

    def best_of(candidates: Sequence[ceilings.Candidate]) -> dict[str, float]:
        with gpu.use():
            ceiling = ceilings.best(candidates, gpu, host)
        return {ceiling.mix: ceiling.value}

    def copy() -> dict[str, float]:
        return best_of(ceilings.memory_candidates(_two_arrays(gpu, info), "copy"))

    def pinned() -> dict[str, float]:
        to_device, to_host, _ = ceilings.pcie_candidates(gpu)
        return best_of([to_device]) | best_of([to_host])

    def launches() -> dict[str, float]:
        with gpu.use():
            return {each.mix: each.value for each in ceilings.launch_ceilings(gpu, host)}

    yield "copies in its memory", ("copy",), copy
    yield "multiply-adds", ("fp32",), lambda: best_of(ceilings.fma_candidates(info, "fp32"))
    # After these, because a GPU at rest has lower clocks.
    yield "launches", ("launch", "launch_host"), launches
    yield "copies from and to pinned memory", ("h2d", "d2h"), pinned
    yield "copies from pageable memory", ("h2d_pageable",), lambda: _pageable(*_PAGEABLE[0])
    yield "copies to pageable memory", ("d2h_pageable",), lambda: _pageable(*_PAGEABLE[1])


def _two_arrays(gpu: GpuClock, info: DeviceInfo) -> list[Any]:
    free = backends.cupy().cuda.runtime.memGetInfo()[0]
    with gpu.use():
        return ceilings.allocate(gpu, ceilings.array_bytes(info, free), 2)


def _pageable(name: str, of_study: str, variant: str) -> dict[str, float]:
    """Copy as the page on transfers does, checked, so that its numbers stand beside these."""
    from gpuguide.topics.transfers import numbers, study

    chosen = {"to_device": study.to_device, "to_host": study.to_host}[of_study]
    try:
        results = chosen.run(quick=True, sizes=[_COPIED], variants=[variant])
    finally:
        numbers.release()  # type: ignore[no-untyped-call]
    rate = results.quantity(variant, _COPIED, "rate")  # its error has the reason where there is none
    return {name: rate.value}


def _under_load(session: Session, gpu: GpuClock, info: DeviceInfo, host: HostClock) -> ClockReading:
    """Read clocks, power and what holds them down after half a second of copies and of multiply-adds each."""
    reading = ClockReading()
    copies = ceilings.memory_candidates(_two_arrays(gpu, info), "copy")
    with gpu.use():
        for candidates in (copies, ceilings.fma_candidates(info, "fp32")):
            begin = host.now_ns()
            while host.now_ns() - begin < _LOAD_S * 10**9:
                for _ in range(10):
                    candidates[0].call()
                reading = session.read_clocks()
                gpu.synchronize()
    held = (word for each in session.clocks_seen for word in each.throttle)
    # What held down the copies counts as well as what held down the multiply-adds.
    return ClockReading(**{**asdict(reading), "throttle": tuple(dict.fromkeys(held))})


def _before() -> dict[str, Any]:
    library, handle = _nvml()
    known: dict[str, Any] = {
        "blocking": os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"),
        "wsl": "microsoft" in platform.release().lower(),
        "has_nvml": library is not None,
    }
    with suppress(Exception):  # a board or a container may not report it
        known["default_limit_w"] = library.nvmlDeviceGetPowerManagementDefaultLimit(handle) / 1000
    with suppress(Exception):
        seen = []
        for _ in range(3):
            seen.append(library.nvmlDeviceGetUtilizationRates(handle).gpu / 100)
            time.sleep(0.2)
        known["busy"] = min(seen)
    return known


def _link_now() -> tuple[int, int] | None:
    """Read generation and lanes right after copies: a link at rest reports less."""
    library, handle = _nvml()
    with suppress(Exception):
        generation = library.nvmlDeviceGetCurrPcieLinkGeneration(handle)
        return int(generation), int(library.nvmlDeviceGetCurrPcieLinkWidth(handle))
    return None


def _nvml() -> tuple[Any, Any]:
    library = backends.nvml()
    with suppress(Exception):
        return library, library.nvmlDeviceGetHandleByPciBusId(backends.cupy().cuda.Device().pci_bus_id)
    return library, None


def _findings(health: Health) -> Iterator[Finding]:
    gpu, state = health.gpu, health.state
    # First what may explain the rates.
    yield from _of_surroundings(gpu, state)
    for thing in THINGS:
        if thing.name in health.missing:
            yield Finding("off", thing.name, f"{thing.title}: not measured ({health.missing[thing.name]}).")
        elif off := _off(health, thing):
            words = (off, _recorded_words(health, thing), _cause(health, thing))
            yield Finding("off", thing.name, " ".join(filter(None, words)))
    yield from _of_clocks(gpu, state)


def _of_clocks(gpu: DeviceInfo, state: State) -> Iterator[Finding]:
    slowed = [word for word in state.load.throttle if word != "power cap"]
    if slowed:
        words = (
            f"Under load the clocks were held down by {' and '.join(slowed)}. Check fans, dust and the room."
        )
        yield Finding("off", "throttle", words)
    limit, default = gpu.power_limit_w, state.default_limit_w
    if limit and default and limit < _CLOCK_DOWN * default:
        words = f"The power limit is {limit:.0f} W, where {default:.0f} W is the default of this board."
        yield Finding("off", "power", f"{words} 'nvidia-smi -pl {default:.0f}' (as administrator) raises it.")
    elif "power cap" in state.load.throttle:
        at = (
            f" at {state.load.sm_hz / 1e9:.2g} of {gpu.sm_clock_hz / 1e9:.2g} GHz" if state.load.sm_hz else ""
        )
        limited = f" of {limit:.0f} W" if limit else ""
        yield Finding("note", "power", f"Under load, the power limit{limited} holds the clock{at}.")


def _of_surroundings(gpu: DeviceInfo, state: State) -> Iterator[Finding]:
    if state.busy is not None and state.busy >= _BUSY:
        busy = format_quantity(state.busy, "share")
        words = f"Another process kept the GPU busy {busy} of the time before this began."
        yield Finding("off", "busy", f"{words} 'nvidia-smi' names it; stop it, and check again.")
    if state.blocking:
        words = "CUDA_LAUNCH_BLOCKING is set, so each launch waits until the GPU is done."
        yield Finding("off", "blocking", f"{words} Unset it, and check again.")
    if (link := _link(gpu.pcie)) and link[1] < 16:
        words = f"The link to the host has {link[1]} lanes (PCIe {gpu.pcie}), which limits copies to "
        words += (
            f"{format_quantity(_LANE.get(link[0], 0) * link[1], 'B/s')}: usual in laptops; in a desktop, "
        )
        yield Finding("note", "link", f"{words}try a slot that has 16.")
    if not state.has_nvml:
        words = (
            "Power, throttling and the link are unknown without NVIDIA's library: pip install nvidia-ml-py."
        )
        yield Finding("note", "nvml", words)


def _off(health: Health, thing: Thing) -> str:
    """Say in how far a value is off; empty where it is not, or nobody can tell."""
    if thing.name not in health.values:
        return ""
    value, share = health.values[thing.name], health.share(thing.name)
    shown = f"{thing.title}: {thing.words(health.values)}"
    least_share = _least_share(health, thing)
    if share is not None and least_share is not None and share < least_share:
        reached, least = format_quantity(share, "share"), format_quantity(least_share, "share")
        return (
            f"{shown}, {reached} of its peak of {thing.words(health.peaks)}; at least {least} was expected."
        )
    if thing.least is not None and value < thing.least:
        return f"{shown}; at least {format_quantity(thing.least, thing.unit)} was expected."
    if thing.most is not None and value > thing.most:
        return f"{shown}; at most {format_quantity(thing.most, thing.unit)} was expected."
    return ""


def _least_share(health: Health, thing: Thing) -> float | None:
    """Return the share that is expected: of FP32, at the clock that the power limit allows, as on any T4."""
    load, most_hz = health.state.load, health.gpu.sm_clock_hz
    if thing.name == "fp32" and thing.least_share and "power cap" in load.throttle and load.sm_hz and most_hz:
        return thing.least_share * min(1.0, load.sm_hz / most_hz)
    return thing.least_share


def _recorded_words(health: Health, thing: Thing) -> str:
    there = [
        f"{words} on the {name}" for name, each in health.recorded.items() if (words := thing.words(each))
    ]
    return f"(The guide: {', '.join(there)}.)" if there else ""


@dataclass(frozen=True)
class _Cause:
    """A row of the table of causes: `_cause` fills the braces; the first one that applies is named."""

    things: tuple[str, ...]
    applies: Callable[[Health], bool]
    words: str


_PINNED, _PAGEABLE_ONES = ("h2d", "d2h"), ("h2d_pageable", "d2h_pageable")
_COPIES, _LAUNCHES, _ON_THE_GPU = (*_PINNED, *_PAGEABLE_ONES), ("launch", "launch_host"), ("copy", "fp32")


def _is_busy(health: Health) -> bool:
    return (health.state.busy or 0) >= _BUSY


_CAUSES = (
    # Another process, and launches that wait, are findings of their own.
    _Cause((*_ON_THE_GPU, *_COPIES, *_LAUNCHES), _is_busy, ""),
    _Cause(_LAUNCHES, lambda h: h.state.blocking, ""),
    _Cause(
        _PINNED,
        lambda h: h.state.link is not None and h.state.link != _link(h.gpu.pcie),
        "The link runs as PCIe {link} and could as {pcie}: reseat the card, or look for a riser or a "
        "power-saving setting in the firmware.",
    ),
    _Cause(
        _PINNED,
        lambda h: True,
        "Look for other traffic on the bus, a switch shared with other cards, or a virtual machine.",
    ),
    _Cause(
        _PAGEABLE_ONES,
        lambda h: True,
        "The CPU copies these bytes first: look for a busy or throttled CPU, or slow host memory.",
    ),
    _Cause(
        _LAUNCHES,
        lambda h: h.state.wsl,
        "WSL hands launches on to Windows, which takes longer; a graph of many launches helps.",
    ),
    _Cause(_LAUNCHES, lambda h: True, "Look for a busy or slow CPU, a profiler or a debugger."),
    _Cause(
        _ON_THE_GPU,
        lambda h: bool(h.state.load.throttle),
        "Under load its clocks are held down ({throttle}).",
    ),
    _Cause(
        ("copy",),
        lambda h: 0 < (h.state.load.memory_hz or 0) < _CLOCK_DOWN * h.gpu.memory_clock_hz,
        "The memory runs at {memory_now} of {memory_most}: see 'nvidia-smi -q -d CLOCK'.",
    ),
    _Cause(
        ("fp32",),
        lambda h: 0 < (h.state.load.sm_hz or 0) < _CLOCK_DOWN * h.gpu.sm_clock_hz,
        "The GPU runs at {sm_now} of {sm_most}: see 'nvidia-smi -q -d CLOCK'.",
    ),
    _Cause(
        _ON_THE_GPU,
        lambda h: True,
        "The driver names no cause. Look for a part of a GPU (MIG, a virtual GPU), or another user.",
    ),
)


def _cause(health: Health, thing: Thing) -> str:
    """Name the cause that the state shows, else what to look at."""
    cause = next(each for each in _CAUSES if thing.name in each.things and each.applies(health))
    gpu, state = health.gpu, health.state
    clocks = {
        "sm_now": state.load.sm_hz or 0,
        "sm_most": gpu.sm_clock_hz,
        "memory_now": state.load.memory_hz or 0,
        "memory_most": gpu.memory_clock_hz,
    }
    return cause.words.format(
        link="{}.0 x{}".format(*state.link) if state.link else "",
        pcie=gpu.pcie,
        throttle=", ".join(state.load.throttle),
        **{name: format_quantity(hz, "Hz") for name, hz in clocks.items()},
    )


def _peaks(memory: float, fp32: float | None, link: tuple[int, int] | None) -> dict[str, float]:
    bus = _LANE.get(link[0], 0) * link[1] if link else 0
    peaks = {"copy": memory, "fp32": fp32 or 0, "h2d": bus, "d2h": bus}
    return {name: peak for name, peak in peaks.items() if peak}


def _link(words: str) -> tuple[int, int] | None:
    parts = re.fullmatch(r"(\d+)\.0 x(\d+)", words)
    return (int(parts[1]), int(parts[2])) if parts else None


def _in_one_line(error: Exception) -> str:
    words = " ".join((explain(error) or f"{type(error).__name__}: {error}").split()).rstrip(".")
    return words if len(words) <= 200 else f"{words[:200]}..."
