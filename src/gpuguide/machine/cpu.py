"""The CPU of this machine: what it is, and work on big NumPy arrays in several of its threads.

Threads pay because NumPy lets go of the interpreter's lock inside its loops.
"""

from __future__ import annotations

import functools
import os
import platform
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

__all__ = ["CpuInfo", "assign", "cpu_info", "first_processor", "in_threads", "thread_pool"]

UNKNOWN = "unknown"

# By vendor, family and model: the names under which server processors are sold or known. Desktop processors
# report their own.
_NAMES = {
    ("GenuineIntel", 6, 63): "Intel Haswell",
    ("GenuineIntel", 6, 79): "Intel Broadwell",
    ("GenuineIntel", 6, 106): "Intel Ice Lake",
    ("GenuineIntel", 6, 108): "Intel Ice Lake",
    ("GenuineIntel", 6, 143): "Intel Sapphire Rapids",
    ("GenuineIntel", 6, 173): "Intel Granite Rapids",
    ("GenuineIntel", 6, 174): "Intel Granite Rapids",
    ("GenuineIntel", 6, 175): "Intel Sierra Forest",
    ("GenuineIntel", 6, 207): "Intel Emerald Rapids",
    ("AuthenticAMD", 23, 1): "AMD EPYC Naples",
    ("AuthenticAMD", 23, 49): "AMD EPYC Rome",
    ("AuthenticAMD", 25, 1): "AMD EPYC Milan",
    ("AuthenticAMD", 25, 17): "AMD EPYC Genoa",
    ("AuthenticAMD", 25, 160): "AMD EPYC Bergamo",
    ("AuthenticAMD", 26, 2): "AMD EPYC Turin",
    ("AuthenticAMD", 26, 17): "AMD EPYC Turin Dense",
}

# Intel gave three generations one model number; these are the lowest steppings of each.
_SKYLAKE_BY_STEPPING = {0: "Intel Skylake", 5: "Intel Cascade Lake", 10: "Intel Cooper Lake"}

# By implementer and part: ARM's processors report no name at all.
_ARM_NAMES = {
    ("0x41", "0xd0c"): "Arm Neoverse N1",
    ("0x41", "0xd40"): "Arm Neoverse V1",
    ("0x41", "0xd49"): "Arm Neoverse N2",
    ("0x41", "0xd4f"): "Arm Neoverse V2",
}

_KINDS = {"Data": "d", "Instruction": "i"}


@dataclass(frozen=True)
class CpuInfo:
    """What the CPU side of a comparison ran on."""

    model: str
    n_cpus: int
    threads: int
    blas: str
    steal_s: float
    signature: str = ""
    caches: tuple[tuple[str, int], ...] = ()
    clock_hz: float | None = None


def cpu_info(root: Path = Path("/")) -> CpuInfo:
    """Describe this machine's CPU side."""
    n_cpus = _cpus()
    # A library reads its own variable before OpenMP's.
    asked = (os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "MKL", "OMP"))
    threads = next((int(text) for text in asked if text.isdigit() and int(text) > 0), n_cpus)
    first = first_processor(root)
    return CpuInfo(
        _model(first),
        n_cpus,
        threads,
        _blas(),
        _steal_s(root),
        _signature(first),
        _caches(root),
        _clock_hz(first),
    )


def first_processor(root: Path = Path("/")) -> dict[str, str]:
    """Read what Linux says about the first processor."""
    try:
        text = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _cpus() -> int:
    # `cpu_count` does not see the limits of a container or of taskset.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _model(first: dict[str, str]) -> str:
    told = first.get("model name", "")
    # A name says which processor it is when it holds a number such as 8480: "Xeon(R) Processor @ 2.00GHz"
    # does not, whatever frequency it boasts.
    if re.search(r"\d{3}", re.sub(r"@.*", "", told)):
        return told
    numbers = _numbers(first)
    # Not x86: family, model and stepping are words of x86 alone.
    if numbers is None:
        key = (first.get("CPU implementer", ""), first.get("CPU part", ""))
        return told or _ARM_NAMES.get(key) or platform.processor() or platform.machine() or UNKNOWN
    vendor, (family, model, stepping) = first.get("vendor_id", ""), numbers
    name = _NAMES.get((vendor, family, model), "")
    if (vendor, family, model) == ("GenuineIntel", 6, 85):
        name = _SKYLAKE_BY_STEPPING[max(least for least in _SKYLAKE_BY_STEPPING if least <= stepping)]
    return f"{name or told or vendor or UNKNOWN} (family {family}, model {model}, stepping {stepping})"


def _numbers(first: dict[str, str]) -> tuple[int, int, int] | None:
    """Return family, model and stepping of an x86 processor."""
    try:
        return int(first["cpu family"]), int(first["model"]), int(first["stepping"])
    except (KeyError, ValueError):
        return None


def _signature(first: dict[str, str]) -> str:
    if (numbers := _numbers(first)) is not None:
        return f"{first.get('vendor_id', UNKNOWN)} {'/'.join(map(str, numbers))}"
    arm = [first.get(f"CPU {what}", "") for what in ("implementer", "part", "variant", "revision")]
    return f"{arm[0]} {'/'.join(arm[1:])}" if all(arm) else ""


def _caches(root: Path) -> tuple[tuple[str, int], ...]:
    """Return L1d, L1i, L2, ... with their bytes, the smallest first."""
    found = []
    for folder in (root / "sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        match = re.fullmatch(r"(\d+)([KMG]?)", size)
        if match:
            n_bytes = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]
            found.append((f"L{level}{_KINDS.get(kind, '')}", n_bytes))
    # By name as well, since L1d and L1i may have the same size, and folders come in no order.
    return tuple(sorted(found, key=lambda cache: (cache[1], cache[0])))


def _clock_hz(first: dict[str, str]) -> float | None:
    try:
        # Whole hertz: any fraction of the product is rounding.
        return float(round(float(first["cpu MHz"]) * 1e6))
    except (KeyError, ValueError):
        return None


def _blas() -> str:
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):  # a NumPy built without these entries
        return UNKNOWN


def _steal_s(root: Path) -> float:
    try:
        fields = (root / "proc/stat").read_text(encoding="ascii").splitlines()[0].split()
        # cpu user nice system idle iowait irq softirq steal
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


T = TypeVar("T")

_MAX_THREADS = 16

# Below this many bytes, a thread costs more than it saves.
_WORTHWHILE = 1 << 23

_PART_BYTES = 1 << 22


def in_threads(work: Callable[[T], Any], parts: Iterable[T], n_bytes: int) -> list[Any]:
    """Call a function for each part of something big, in threads when that pays."""
    n_threads = min(_MAX_THREADS, _cpus())
    if n_bytes < _WORTHWHILE or n_threads < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, parts))


@functools.cache
def thread_pool() -> ThreadPoolExecutor:
    """Return threads, one for each CPU that this process may use, that stay for later calls."""
    return ThreadPoolExecutor(_cpus())


def assign(target: np.ndarray[Any, Any], source: Any) -> None:
    """Do ``target[...] = source``, in threads when that pays."""
    is_array = isinstance(source, np.ndarray)
    flat = not is_array or (source.shape == target.shape and source.flags.c_contiguous)
    flat &= target.flags.c_contiguous
    if target.nbytes < _WORTHWHILE or not flat:
        target[...] = source
        return
    to, of = target.reshape(-1), source.reshape(-1) if is_array else source
    step = max(1, _PART_BYTES // target.itemsize)

    def one(start: int) -> None:
        part = slice(start, start + step)
        # In each thread, because threads do not inherit it. Values too large for the target become infinite.
        with np.errstate(over="ignore"):
            to[part] = of[part] if is_array else of

    in_threads(one, range(0, to.size, step), target.nbytes)
