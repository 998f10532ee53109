"""What a run says of its machine: GPU, CPU, versions, date and commit."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from gpuguide.machine.compilers import installed_version
from gpuguide.machine.cpu import CpuInfo, cpu_info
from gpuguide.machine.device import DeviceInfo
from gpuguide.machine.host import clock_source, start_of_machine, virtualisation
from gpuguide.measure.session import Session
from gpuguide.results.records import Provenance

__all__ = ["make_provenance", "start_of_recording", "versions"]

# CuPy's wheels are named after the CUDA version; searching all distributions for them would take a second.
_CUPY = ("cupy", "cupy-cuda12x", "cupy-cuda13x")
_PACKAGES = ("gpuguide", "numpy", "scipy", "numba", "numba-cuda", *_CUPY, "matplotlib", "cuda-bindings")


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
    cpu = cpu_info()
    found = versions()
    return Provenance(
        machine=machine,
        **_gpu_fields(session.machine.info),
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


def _gpu_fields(info: DeviceInfo | None) -> dict[str, Any]:
    same = ("compute_capability", "sm_count", "l2_bytes", "memory_bytes", "power_limit_w", "ecc")
    clocks = ("sm_clock_hz", "memory_clock_hz")
    if info is None:
        return {**dict.fromkeys((*same, *clocks)), "gpu": "none", "driver": "", "cuda": ""}
    return {
        **{name: getattr(info, name) for name in same},
        **{name: float(getattr(info, name)) for name in clocks},
        "gpu": info.name,
        "driver": info.driver,
        "cuda": info.cuda_runtime,
    }
