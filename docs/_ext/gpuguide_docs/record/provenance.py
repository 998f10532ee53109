"""What a recording says of its machine: GPU, CPU, versions, date and commit."""

from __future__ import annotations

import os
import platform
import secrets
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuguide.machine.compilers import installed_version
from gpuguide.machine.host import clock_source, start_of_machine, virtualisation

if TYPE_CHECKING:
    from gpuguide.machine.cpu import CpuInfo
    from gpuguide.measure.session import Session
    from gpuguide.results.records import Provenance

__all__ = ["commit_of", "make_provenance", "start_of_recording", "versions"]

# CuPy's wheels are named after the CUDA version; searching all distributions for them would take a second.
_CUPY = ("cupy", "cupy-cuda12x", "cupy-cuda13x")
_PACKAGES = ("gpuguide", "numpy", "scipy", "numba", "numba-cuda", *_CUPY, "matplotlib", "cuda-bindings")


def commit_of(root: Path) -> str:
    """Name the commit that is measured."""
    given = os.environ.get("GPUGUIDE_COMMIT", "")
    if given:
        return given
    try:
        head = _git(root, "rev-parse", "HEAD")
        # Recordings are what is being written: they do not make the measured code another.
        changed = _git(root, "status", "--porcelain", "--", ".", ":(exclude)src/gpuguide/recorded")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+dirty" if changed else head


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def versions() -> tuple[tuple[str, str], ...]:
    """Give name and version of the packages that numbers depend on, those that are installed."""
    return tuple((name, found) for name in _PACKAGES if (found := installed_version(name)))


def start_of_recording() -> str:
    """Name the start of the machine on which pages are recorded now."""
    return start_of_machine() or secrets.token_hex(6)


def make_provenance(
    machine: str,
    commit: str,
    run_time_s: float,
    peak_memory_bytes: int | None,
    cpu_before: CpuInfo,
    session: Session,
    start: str,
) -> Provenance:
    """Describe the run that ends now."""
    from gpuguide.machine.cpu import cpu_info
    from gpuguide.results.records import Provenance

    cpu = cpu_info()
    found = versions()
    return Provenance(
        machine=machine,
        **_gpu_fields(),
        compiler=next((f"{name} {number}" for name, number in found if name == "numba-cuda"), ""),
        versions=found,
        cpu=cpu.model,
        n_cpus=cpu.n_cpus,
        threads=cpu.threads,
        blas=cpu.blas,
        steal_s=round(max(0.0, cpu.steal_s - cpu_before.steal_s), 3),
        utc_date=datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z",
        commit=commit,
        run_time_s=round(run_time_s, 3),
        peak_memory_bytes=peak_memory_bytes,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        start=start,
        virtualisation=virtualisation(),
        clock_source=clock_source(),
        cpu_signature=cpu.signature,
        cpu_caches=cpu.caches,
        cpu_clock_hz=cpu.clock_hz,
        sm_clock_seen_hz=_range(reading.sm_hz for reading in session.clocks_seen),
        power_seen_w=_range(reading.power_w for reading in session.clocks_seen),
        pace_s=session.host_pace.best_s,
        shared_host=session.host_pace.shared,
    )


def _range(readings: Iterable[float | None]) -> tuple[float, float] | None:
    """Return the lowest and the highest of what was read."""
    known = [float(reading) for reading in readings if reading is not None]
    return (min(known), max(known)) if known else None


def _gpu_fields() -> dict[str, Any]:
    from gpuguide.machine.backends import has_gpu

    if not has_gpu():
        numbers = ("compute_capability", "sm_count", "l2_bytes", "memory_bytes", "sm_clock_hz")
        more = ("memory_clock_hz", "power_limit_w", "ecc")
        return {**dict.fromkeys((*numbers, *more)), "gpu": "none", "driver": "", "cuda": ""}
    from gpuguide.machine.device import current

    device = current()
    same = ("compute_capability", "sm_count", "l2_bytes", "memory_bytes", "power_limit_w", "ecc", "driver")
    return {
        **{name: getattr(device, name) for name in same},
        "sm_clock_hz": float(device.sm_clock_hz),
        "memory_clock_hz": float(device.memory_clock_hz),
        "gpu": device.name,
        "cuda": device.cuda_runtime,
    }
